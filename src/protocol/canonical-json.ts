import canonicalize from 'canonicalize';

/**
 * What JSON can say. A member's type admits `undefined` only because that is the type of an optional member;
 * a member that is present and undefined is refused when it is written.
 */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue | undefined };

/**
 * The RFC 8785 form of a value: the text that is signed, and in answers the text that is sealed (SPEC §2).
 * @throws {TypeError} on what JSON cannot carry: undefined, a hole in an array, a lone surrogate, NaN or an
 *   infinity, a bigint, function or symbol, an object that is not plain, a cycle. The library alone would drop or
 *   rewrite some of these, and then the signature would cover something else than the value that was passed.
 */
export function canonicalJson(value: JsonValue): string {
  refuseUnlessJson(value, []);
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value has no JSON form');
  return text;
}

function refuseUnlessJson(value: unknown, ancestors: object[]): void {
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      refuseLoneSurrogates(value);
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`JSON cannot carry the number ${value}`);
      return;
    case 'object':
      if (value !== null) refuseUnlessPlain(value, ancestors);
      return;
    default:
      throw new TypeError(`JSON cannot carry a value of type ${typeof value}`);
  }
}

function refuseUnlessPlain(value: object, ancestors: object[]): void {
  if (ancestors.includes(value)) throw new TypeError('JSON cannot carry an object that contains itself');
  ancestors.push(value);
  if (Array.isArray(value)) {
    // An index loop, as the iterators that skip holes would let one through.
    for (let index = 0; index < value.length; index++) refuseUnlessJson(value[index], ancestors);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    // The second test admits plain objects of another realm (a worker's or a frame's Object.prototype).
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      throw new TypeError('JSON cannot carry an object that is not plain');
    }
    for (const [name, member] of Object.entries(value)) {
      refuseLoneSurrogates(name);
      refuseUnlessJson(member, ancestors);
    }
  }
  ancestors.pop();
}

function refuseLoneSurrogates(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('Canonical JSON cannot carry a lone surrogate');
}
