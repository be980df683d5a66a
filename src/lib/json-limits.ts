const [quote, backslash, comma, openBracket, openBrace] = Buffer.from('"\\,[{');

/** The most that a JSON text may hold. */
export interface JsonLimits {
  /** Values, of which an empty list counts for two. */
  readonly values: number;
  /** Length of one text or member name, in bytes as it is written. */
  readonly text: number;
}

/**
 * The most that a body may hold, which can be of megabytes. The ten thousand hashed keys of a blind mint have seventy
 * thousand values; the longest text is a GraphQL query.
 */
export const largestJson: JsonLimits = { values: 100_000, text: 100 * 1024 };

/**
 * Which limit a JSON text goes beyond, told by its bytes before it is parsed; null when it is none. Values by the
 * million fill a body of a few megabytes, and parsing them stalls the process for seconds; so does a member name or an
 * enum's value of such a length, for which GraphQL looks for a similar one.
 */
export function findExcess(json: Uint8Array, most: JsonLimits): keyof JsonLimits | null {
  // Each value takes a byte at least.
  if (json.length <= Math.min(most.values, most.text)) return null;
  let values = 1;
  let textStart: number | null = null;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (textStart !== null) {
      const length = at - textStart - (byte === quote ? 1 : 0);
      if (length > most.text) return 'text';
      if (byte === backslash) at++;
      else if (byte === quote) textStart = null;
    } else if (byte === quote) {
      textStart = at;
    } else if (byte === comma || byte === openBracket || byte === openBrace) {
      values++;
      if (values > most.values) return 'values';
    }
  }
  return null;
}
