const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as JSON in UTF-8 (RFC 8259 §8.1). The router's own parser replaces invalid bytes with U+FFFD, which
 * would make different passwords equal. Invalid input is rejected, never repaired.
 * @throws {SyntaxError} if the body is not JSON
 * @throws {TypeError} if the body is not UTF-8
 */
export function parseStrictJson(body: ArrayBuffer) {
  return JSON.parse(utf8.decode(body));
}
