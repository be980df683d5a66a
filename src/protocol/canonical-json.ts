/**
 * A JSON value. Member types include `undefined` only to allow optional members; serializing a member that is present
 * but undefined throws.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue | undefined };

/** Maximum number of levels (SPEC §2), so that no text can exhaust the stack. A response has two. */
export const maxDepth = 64;

/**
 * Serializes a value as canonical JSON (RFC 8785): the text that is signed and, in responses, sealed (SPEC §2).
 * ECMAScript already serializes strings and numbers as the RFC requires (§3.2.2) and sorts by UTF-16 code units
 * (§3.2.3). Values that JSON cannot represent are rejected, never converted, so a signature covers exactly the value
 * that was passed.
 * @throws {TypeError} for undefined, array holes, lone surrogates, NaN, infinities, bigints, functions, symbols,
 *   non-plain objects, cycles, and values nested more than `maxDepth` deep
 */
export function canonicalJson(value: JsonValue): string {
  return print(value, []);
}

function print(value: unknown, ancestors: readonly object[]): string {
  switch (typeof value) {
    case 'string':
      return printText(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`JSON cannot carry ${value}`);
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : printCompound(value, ancestors);
    default:
      throw new TypeError(`JSON cannot carry a value of type ${typeof value}`);
  }
}

function printText(text: string): string {
  const printed = JSON.stringify(text);
  // ECMAScript escapes lone surrogates, and only those, as \ud800 to \udfff.
  if (printed.includes('\\ud') && /\p{Surrogate}/u.test(text)) {
    throw new TypeError('JSON cannot carry a lone surrogate (RFC 8785 §3.2.2.2)');
  }
  return printed;
}

function printCompound(value: object, ancestors: readonly object[]): string {
  if (ancestors.includes(value)) throw new TypeError('JSON cannot carry an object that contains itself');
  if (ancestors.length >= maxDepth) throw new TypeError(`JSON is nested more than ${maxDepth} deep`);
  const within = [...ancestors, value];
  // `Array.from` instead of `map`, which skips holes.
  if (Array.isArray(value)) return `[${Array.from(value, (item: unknown) => print(item, within)).join()}]`;
  requirePlain(value);
  let members = '';
  for (const name of Object.keys(value).sort()) {
    members += `${members === '' ? '' : ','}${printText(name)}:${print(Reflect.get(value, name), within)}`;
  }
  return `{${members}}`;
}

function requirePlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second condition admits plain objects of another realm, such as a worker or frame.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new TypeError('JSON cannot carry an object that is not plain');
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw new TypeError('JSON cannot carry a symbol');
}
