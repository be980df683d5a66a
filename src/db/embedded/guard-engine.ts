import type { PGlite } from '@electric-sql/pglite';

/** The exit status with which the engine's WASM reports an ordinary PostgreSQL error, which PGlite handles. */
const raisedError = 100;

/**
 * Makes a crashed engine end its thread. PGlite swallows every exception of its main loop, including a WASM trap or
 * PostgreSQL's PANIC, and would then spin or answer from corrupted memory, and pglite-socket would never answer again.
 * @param assertLease throws when the engine may no longer answer; called before each message of a client
 * @param fail ends the thread
 */
export function guardEngine(engine: PGlite, assertLease: () => void, fail: (error: unknown) => never): void {
  const { Module: module } = engine;
  const mainLoopOnce = module._PostgresMainLoopOnce;
  const recover = module._PostgresMainLongJmp;
  module._PostgresMainLoopOnce = () => {
    try {
      assertLease();
    } catch (error) {
      fail(error);
    }
    try {
      mainLoopOnce();
    } catch (error) {
      if (statusOf(error) !== raisedError) fail(error);
      throw error;
    }
  };
  module._PostgresMainLongJmp = () => {
    try {
      recover();
    } catch (error) {
      fail(error);
    }
  };
}

function statusOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
}
