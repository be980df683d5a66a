const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/** Limits of a JSON text. */
export interface JsonLimits {
  /** Number of values; an empty array counts as two. */
  readonly values: number;
  /** Length of one string or member name, in encoded bytes. */
  readonly text: number;
}

/**
 * Limits of a request body, which can be several megabytes. The 10,000 hashed keys of a blind mint have 70,000 values; the
 * longest legitimate string is a GraphQL query.
 */
export const bodyJsonLimits: JsonLimits = { values: 100_000, text: 100 * 1024 };

/**
 * Scans a JSON text, without parsing it, for an exceeded limit. A few megabytes can contain millions of values, and
 * parsing them stalls the process for seconds. So does a very long member name or enum value, for which GraphQL searches
 * for similar names to suggest.
 * @returns the exceeded limit, or null
 */
export function findExcess(json: Uint8Array, limits: JsonLimits): keyof JsonLimits | null {
  // Each value takes at least one byte.
  if (json.length <= Math.min(limits.values, limits.text)) return null;
  let values = 1;
  let textStart: number | null = null;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (textStart !== null) {
      const length = at - textStart - (byte === quote ? 1 : 0);
      if (length > limits.text) return 'text';
      if (byte === backslash) at++;
      else if (byte === quote) textStart = null;
    } else if (byte === quote) {
      textStart = at;
    } else if (byte === comma || byte === openBracket || byte === openBrace) {
      values++;
      if (values > limits.values) return 'values';
    }
  }
  return null;
}
