import canonicalize from 'canonicalize';

/**
 * What JSON can say. A member's type admits `undefined` only because that is the type of an optional member;
 * a member that is present and undefined is refused when it is written.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue | undefined };

/**
 * The RFC 8785 form of a value: the text that is signed, and in answers the text that is sealed (SPEC §2).
 * @throws {Error} on what JSON cannot carry: undefined, a hole in an array, a lone surrogate, NaN or an infinity, a
 *   bigint, function or symbol, an object that is not plain, a cycle
 */
export function canonicalJson(value: JsonValue): string {
  refuseWhatIsRewritten(value, []);
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form');
  return text;
}

/**
 * Throws on what the library would drop or rewrite in silence, so that a signature never covers something else than
 * the value that was passed. Lone surrogates, NaN and infinities the library refuses itself.
 */
function refuseWhatIsRewritten(value: unknown, ancestors: object[]): void {
  if (value === null) return;
  if (typeof value === 'object') {
    if (ancestors.includes(value)) throw new TypeError('JSON cannot carry an object that contains itself');
    ancestors.push(value);
    for (const member of Array.isArray(value) ? value : plainMembers(value)) {
      refuseWhatIsRewritten(member, ancestors);
    }
    ancestors.pop();
  } else if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new TypeError(`JSON cannot carry a value of type ${typeof value}`);
  }
}

function plainMembers(value: object): unknown[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second test admits plain objects of another realm (a worker's or a frame's Object.prototype).
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new TypeError('JSON cannot carry an object that is not plain');
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw new TypeError('JSON cannot carry a symbol');
  return Object.values(value);
}
