const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as the UTF-8 that JSON is (RFC 8259 §8.1). By itself the router puts U+FFFD in the place of bytes that
 * are none, so that different passwords become one: input is refused, never repaired (design §5, "Answers").
 * @throws {SyntaxError | TypeError} for what is not JSON, or not UTF-8
 */
export function parseStrictJson(body: ArrayBuffer) {
  return JSON.parse(utf8.decode(body));
}
