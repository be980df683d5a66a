import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { pause } from '../lib/pause.ts';
import { createOpenSockets } from './open-sockets.ts';

/** Intervals of the heartbeat, in milliseconds: while the server answers, and while it does not. */
const beatMilliseconds = 250;
const beatWhileAwayMilliseconds = 100;
/**
 * Timeout of a heartbeat, in milliseconds. Together with the interval, and a second for a Redis that stops answering too,
 * a request still ends within three seconds.
 */
const patienceMilliseconds = 1_250;

export interface HeartbeatOptions {
  readonly url: string;
  /** Called when the server stops answering. */
  onAway(reason: string): void;
  onBack(): void;
  /** Called when the server becomes read-only, for example because it was demoted, and when it accepts writes again. */
  onReadOnly(isReadOnly: boolean): void;
}

/**
 * Checks four times a second, on a separate connection, that a server answers and accepts writes. Unlike a statement
 * timeout, this tells a slow statement apart from a server that has stopped answering.
 * @returns a function that stops the heartbeat
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
    // The interrupted query reports the error too.
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
    // A lost connection does not mean that the server is down: an operator may have terminated the backend.
    return answer === 'failed' && wasConnected && (await isAnswered());
  }

  async function beat(): Promise<void> {
    const answered = await isAnswered();
    if (ending.signal.aborted || answered !== isAway) return;
    isAway = !answered;
    if (isAway) options.onAway('The PostgreSQL server is unavailable.');
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
 * Waits for an answer. An answer that arrived in time counts, even if this process was too busy to read it. A server that
 * refuses a connection, for example because it has none left, is available.
 */
async function within(milliseconds: number, question: Promise<void>): Promise<Answer> {
  const limit = new AbortController();
  const answer = question.then(
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

/** A server that is starting, stopping or recovering (57P01 to 57P03), or that loses its clients (08), is unavailable. */
const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(57P0[123]|08...)$/.test(error.code ?? '');
