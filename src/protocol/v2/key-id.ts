/** @throws {RangeError} unless the id of a key fits into its byte */
export function requireKeyId(keyId: number): void {
  if (!Number.isInteger(keyId) || keyId < 0 || keyId > 255) throw new RangeError('A key id is 0 to 255');
}
