/** The longest lines that a backup can have, in bytes. Rows are far shorter, and a header lists only a few tables. */
const maxBytes = { first: 1024 * 1024, other: 128 * 1024 * 1024 } as const;

/** A line is longer than any line of a backup. The rest of it is not read, because it may never end. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
  /** The number of the line, starting at 1. */
  readonly line: number;
  constructor(line: number) {
    super(`Line ${line} is too long`);
    this.line = line;
  }
}

/**
 * Splits a stream into lines, without their line feeds. Text after the last line feed is a line too.
 * @throws {LineTooLongError}
 */
export async function* linesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  let line = 1;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      const last = chunk.subarray(start, end);
      yield pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      pieces = [];
      length = 0;
      line += 1;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > (line === 1 ? maxBytes.first : maxBytes.other)) throw new LineTooLongError(line);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}
