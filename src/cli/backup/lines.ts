/** The longest line that a backup can have, in bytes: the service takes nothing near it. */
const longestLine = 128 * 1024 * 1024;

/**
 * The lines of a stream, without their ends. What follows the last end is a line too, unless it is empty.
 * @throws {RangeError} for a line that is longer than any of ours
 */
export async function* linesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      const last = chunk.subarray(start, end);
      yield pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
      pieces = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > longestLine) throw new RangeError('A line is too long');
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}
