import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as its bytes came. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; of a name that came twice both values, joined by a comma. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What came of bytes that no HTTP client would send. */
export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** Everything, as it came. */
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

/** Lines of a request, ended as HTTP ends them; the last one is followed by an empty one. */
export const request = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

const quietFor = 700;

/**
 * Sends bytes, and reads until the service closes the connection, until so many answers are there, or until a request
 * that is sent behind them on the same connection could no longer be what is being answered.
 * @param answers how many to wait for
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
  // What else comes, and whether the connection is closed, comes at once.
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, quietFor))]);
  socket.destroy();
  return { answers: parse(text), text, closed };
}

/** The answers that are whole. */
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

/** The code of an answer's body; undefined where it has none. */
export const codeOf = ({ body }: RawAnswer): string | undefined => /"code":"(\w+)"/.exec(body)?.[1];
