import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** Begins a request and never finishes it, so that the service cannot stop at once. */
export async function holdConnection({ url }: { readonly url: string }): Promise<void> {
  const { hostname, port } = new URL(url);
  const stranger = connect(Number(port), hostname);
  stranger.on('error', () => {});
  onTestFinished(() => void stranger.destroy());
  const head = [
    'POST /api/v1/session/init HTTP/1.1',
    'Host: a',
    'Content-Length: 50',
    'Expect: 100-continue',
  ];
  stranger.write(`${head.join('\r\n')}\r\n\r\n`);
  // The service has read the head when it asks for the body.
  await once(stranger, 'data');
}
