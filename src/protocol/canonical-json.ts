/**
 * What JSON can say. A member's type admits `undefined` only because that is the type of an optional member;
 * a member that is present and undefined is refused when it is written.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue | undefined };

/**
 * The RFC 8785 form of a value: the text that is signed, and in answers the text that is sealed (SPEC §2). ECMAScript
 * writes texts and numbers as the RFC wants them (§3.2.2), and sorts names by UTF-16 code units (§3.2.3). What JSON
 * cannot carry is refused and never rewritten, so that a signature covers nothing else than the value that was passed.
 * @throws {TypeError} on what JSON cannot carry: undefined, a hole in an array, a lone surrogate, NaN or an infinity, a
 *   bigint, function or symbol, an object that is not plain, a cycle
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
  // ECMAScript escapes a lone surrogate, and no other character, as \ud800 to \udfff.
  if (printed.includes('\\ud') && /\p{Surrogate}/u.test(text)) {
    throw new TypeError('JSON cannot carry a lone surrogate (RFC 8785 §3.2.2.2)');
  }
  return printed;
}

function printCompound(value: object, ancestors: readonly object[]): string {
  if (ancestors.includes(value)) throw new TypeError('JSON cannot carry an object that contains itself');
  const within = [...ancestors, value];
  // `from` and not `map`, which would pass over holes.
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
  // The second test admits plain objects of another realm (a worker's or a frame's Object.prototype).
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new TypeError('JSON cannot carry an object that is not plain');
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw new TypeError('JSON cannot carry a symbol');
}
