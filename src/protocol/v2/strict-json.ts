import { decodeUtf8 } from '../bytes.ts';
import { maxDepth } from '../canonical-json.ts';
import { isWellFormedText } from '../text.ts';

/**
 * Parses JSON in UTF-8 that every reader understands alike: no byte order mark, no repeated member name, no NUL or lone
 * surrogate in a text or a name, no number but integers from −(2^53 − 1) to 2^53 − 1 in their shortest form, at most 64
 * levels. Readers differ in all of these: if two readers understand a text differently, a signature can cover something
 * other than what is acted on.
 * @returns undefined for anything else
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isUnambiguous(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A text with the colon that makes it a name, a number, or a bracket. In valid JSON, all else is words and punctuation. */
const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|[{}[\]]/g;

/** Looks at the names, texts and numbers of valid JSON. */
function isUnambiguous(json: string): boolean {
  /** The names of each open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  for (const [token, quoted, colon, number] of json.matchAll(tokens)) {
    if (quoted !== undefined) {
      const text = String(JSON.parse(quoted));
      if (!isWellFormedText(text)) return false;
      if (colon !== undefined && !isNew(open.at(-1), text)) return false;
    } else if (number !== undefined) {
      if (!Number.isSafeInteger(Number(number)) || String(Number(number)) !== number) return false;
    } else if (token === '{' || token === '[') {
      if (open.push(token === '{' ? new Set() : null) > maxDepth) return false;
    } else {
      open.pop();
    }
  }
  return true;
}

function isNew(names: Set<string> | null | undefined, name: string): boolean {
  if (names === null || names === undefined || names.has(name)) return false;
  names.add(name);
  return true;
}
