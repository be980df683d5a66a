import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response, parsed from its bytes. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; repeated values are joined by a comma. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The result of sending bytes that no HTTP client would send. */
export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** All received bytes. */
  readonly text: string;
  /** Whether the service closed the connection. */
  readonly closed: boolean;
}

export function open(baseUrl: string): Socket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
}

/** The lines of a request with CRLF line ends, followed by an empty line. */
export const request = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

const quietFor = 700;

/**
 * Sends bytes and reads until the service closes the connection, until the given number of responses has arrived, or until
 * a further request on the same connection can no longer be the one being answered.
 * @param answers the number of responses to wait for
 */
export async function exchange(baseUrl: string, bytes: string | Buffer, answers = 1): Promise<RawExchange> {
  const socket = open(baseUrl);
  let text = '';
  let closed = false;
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  const ended = once(socket, 'close').then(() => (closed = true));
  await once(socket, 'connect');
  socket.write(bytes);
  const deadline = Date.now() + 60_000;
  while (!closed && Date.now() < deadline && parse(text).length < answers) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  // Further responses and the end of the connection arrive at once.
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, quietFor))]);
  socket.destroy();
  return { answers: parse(text), text, closed };
}

/** The complete responses. */
function parse(text: string): RawAnswer[] {
  const found: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3})/.exec(start)?.[1];
    if (end < 0 || status === undefined) break;
    const fields = new Map<string, string>();
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      const before = fields.get(name.toLowerCase());
      fields.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
    }
    const bodyStart = end + 4;
    const length = Number(fields.get('content-length') ?? 0);
    if (rest.length < bodyStart + length) break;
    if (Number(status) >= 200) {
      found.push({ status: Number(status), fields, body: rest.slice(bodyStart, bodyStart + length) });
    }
    rest = rest.slice(bodyStart + length);
  }
  return found;
}

/** The code in the body of a response; undefined if it has none. */
export const codeOf = ({ body }: RawAnswer): string | undefined => /"code":"(\w+)"/.exec(body)?.[1];
