/** A random id of 128 bits. `crypto.randomUUID` exists only in secure contexts, and an intranet may use plain HTTP. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
