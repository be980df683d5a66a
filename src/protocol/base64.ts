const common = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

interface Alphabet {
  /** The character code of each of the 64 values. */
  readonly codes: Uint8Array;
  /** The value of each character code below 128; 255 for a character outside the alphabet. */
  readonly values: Uint8Array;
}

function alphabet(characters: string): Alphabet {
  const codes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
  const values = new Uint8Array(128).fill(255);
  for (const [value, code] of codes.entries()) values[code] = value;
  return { codes, values };
}

const standard = alphabet(`${common}+/`);
const urlSafe = alphabet(`${common}-_`);
const padding = 0x3d;
const ascii = new TextDecoder();

/** Standard base64 with padding (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  return encode(bytes, standard, true);
}

/**
 * Decodes standard base64 with padding. Returns null unless the text is exactly what {@link encodeBase64} produces:
 * another alphabet, missing padding, white space and non-zero trailing bits (RFC 4648 §3.5) are rejected. Each value has
 * one spelling, so an attacker cannot alter a message's text without changing its meaning.
 */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const pads = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return decode(text, text.length - pads, standard);
}

/** URL-safe base64 without padding (RFC 4648 §5), used for session tickets. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encode(bytes, urlSafe, false);
}

/** Decodes canonical URL-safe base64 without padding, as strictly as {@link decodeBase64}; null if malformed. */
export function decodeBase64Url(text: string): Uint8Array | null {
  return decode(text, text.length, urlSafe);
}

function encode(bytes: Uint8Array, { codes }: Alphabet, padded: boolean): string {
  const bare = Math.ceil((bytes.length * 8) / 6);
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let from = 0, to = 0; from < bytes.length; from += 3) {
    const group = (at(bytes, from) << 16) | (at(bytes, from + 1) << 8) | at(bytes, from + 2);
    text[to++] = at(codes, group >> 18);
    text[to++] = at(codes, (group >> 12) & 63);
    text[to++] = at(codes, (group >> 6) & 63);
    text[to++] = at(codes, group & 63);
  }
  return ascii.decode(padded ? text.fill(padding, bare) : text.subarray(0, bare));
}

function decode(text: string, length: number, { values }: Alphabet): Uint8Array | null {
  if (length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((length * 6) / 8));
  let bits = 0;
  let held = 0;
  let to = 0;
  for (let from = 0; from < length; from++) {
    const value = values[text.charCodeAt(from)] ?? 255;
    if (value === 255) return null;
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[to++] = bits >> held;
    }
  }
  const trailing = bits & ((1 << held) - 1);
  return trailing === 0 ? bytes : null;
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
