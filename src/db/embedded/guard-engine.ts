import type { PGlite } from '@electric-sql/pglite';

/** How the engine's WASM says "PostgreSQL raised an error": an ordinary event, which PGlite handles. */
const raisedError = 100;

/**
 * Makes a dead engine end its thread. PGlite swallows every exception of its main loop, a trap or PostgreSQL's PANIC
 * included, and would spin or answer from ruined memory; pglite-socket would leave every later query waiting.
 * @param assertLease throws where nothing may be answered any more; asked before each message of a client
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
