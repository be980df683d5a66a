import type { IncomingMessage } from 'node:http';

/** How much of a response body is read and stored. */
const maxBytes = 1_024;
/** How long the body may take after the head of the response, in milliseconds. The status alone decides the outcome. */
const bodyMilliseconds = 2_000;

/**
 * Reads the first bytes of a response as text, then closes its connection. A body that is late or breaks off is as good as
 * what has arrived of it.
 * @returns text without NUL, which PostgreSQL cannot store; other bytes that are not UTF-8 are replaced
 */
export async function readAnswer(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const close = (): void => void response.destroy();
  const timer = setTimeout(close, bodyMilliseconds);
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const chunk of response) {
      if (!(chunk instanceof Buffer)) break;
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch {
    // What has arrived is the answer.
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', close);
    close();
  }
  // As a stream, the decoder leaves out a character that the limit has cut.
  return new TextDecoder()
    .decode(Buffer.concat(chunks).subarray(0, maxBytes), { stream: true })
    .replaceAll('\0', '\u{FFFD}');
}
