import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { pause } from '../lib/pause.ts';
import { createOpenSockets } from './open-sockets.ts';

/** How often a server is asked whether it is there, in milliseconds; and how often one that is away. */
const beatMilliseconds = 250;
const beatWhileAwayMilliseconds = 100;
/**
 * A server that has not answered for so long is away, in milliseconds. With the beat before it, and a second that a
 * Redis may take that falls silent as well, a request still ends within three seconds.
 */
const patienceMilliseconds = 1_250;

export interface HeartbeatOptions {
  readonly url: string;
  /** Called when a server that was there is not. */
  onAway(reason: string): void;
  onBack(): void;
  /** Called when a server that took writes takes none, as one that was demoted to a replica, and when it does again. */
  onReadOnly(isReadOnly: boolean): void;
}

/**
 * Asks a server four times a second, over a connection apart from those that work, whether it is there, and takes
 * writes. A statement that takes long is thus told from a server that has fallen silent: no limit of time for statements
 * does that.
 * @returns stops it
 */
export function startHeartbeat(options: HeartbeatOptions): () => Promise<void> {
  const sockets = createOpenSockets();
  const ending = new AbortController();
  let client: pg.Client | null = null;
  let isAway = false;
  let isReadOnly = false;

  async function connect(): Promise<pg.Client> {
    const made = new pg.Client({
      connectionString: options.url,
      application_name: 'latchkey-heartbeat',
      stream: sockets.open,
    });
    // The question that it breaks off says so too.
    made.on('error', () => undefined);
    await made.connect();
    return made;
  }

  async function ask(): Promise<void> {
    client ??= await connect();
    const { rows } = await client.query(
      `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
    );
    const was = isReadOnly;
    isReadOnly = rows[0]?.isReadOnly === true;
    if (isReadOnly !== was) options.onReadOnly(isReadOnly);
  }

  function hangUp(): void {
    client = null;
    sockets.refuse('The heartbeat was not answered.');
    sockets.admit();
  }

  async function isAnswered(): Promise<boolean> {
    const wasConnected = client !== null;
    const answer = await within(patienceMilliseconds, ask());
    if (answer === 'yes' || answer === 'refused') return true;
    hangUp();
    // One connection that ends, as by an operator's hand, is not yet the server's end.
    return answer === 'failed' && wasConnected && (await isAnswered());
  }

  async function beat(): Promise<void> {
    const answered = await isAnswered();
    if (ending.signal.aborted || answered !== isAway) return;
    isAway = !answered;
    if (isAway) options.onAway('The PostgreSQL server is away.');
    else options.onBack();
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await beat();
      await pause(isAway ? beatWhileAwayMilliseconds : beatMilliseconds, ending.signal);
    }
  }

  const running = run();
  return async () => {
    ending.abort();
    hangUp();
    await running;
    hangUp();
  };
}

type Answer = 'yes' | 'refused' | 'failed' | 'silence';

/**
 * Waits for an answer. One that had arrived when time was up, while this process was busy with something else, counts.
 * A server that refuses, as when it has no connection left, is there.
 */
async function within(milliseconds: number, asked: Promise<void>): Promise<Answer> {
  const limit = new AbortController();
  const answer = asked.then(
    (): Answer => 'yes',
    (error: unknown): Answer => (isRefusal(error) ? 'refused' : 'failed'),
  );
  const silence = pause(milliseconds, limit.signal)
    .then(() => setImmediate())
    .then((): Answer => 'silence');
  try {
    return await Promise.race([answer, silence]);
  } finally {
    limit.abort();
  }
}

/** Starting, stopping and recovering (57P01 to 57P03) or losing its clients (08), it is of no use yet. */
const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(57P0[123]|08...)$/.test(error.code ?? '');
