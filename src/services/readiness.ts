import type { Database } from '../db/database.ts';
import type { EphemeralStore } from '../ephemeral/store.ts';
import type { Watch } from './changes/watch.ts';

interface Part {
  readonly ready: boolean;
  /** For an operator. Anyone may request it, so it contains no host, name or error text. */
  readonly detail: string;
}

/** Whether an instance is fully functional, part by part. */
export interface ReadinessReport {
  readonly ready: boolean;
  readonly parts: {
    readonly service: Part;
    readonly database: Part;
    /** Omitted without Redis. */
    readonly redis?: Part;
  };
}

export interface Readiness {
  /**
   * The state as of the last checks by the watch and the heartbeat of Redis, up to four times a second. Nothing is checked
   * by this call.
   */
  report(): ReadinessReport;
  /** Call it when the service begins to stop. */
  drain(): void;
}

const writable: Part = { ready: true, detail: 'The database answers.' };
const readOnly: Part = {
  ready: false,
  detail:
    'The database takes no writes. Licenses that are in use are still validated; what changes something is refused.',
};

const unconfirmed: Part = {
  ready: false,
  detail:
    'The database does not confirm writes: a synchronous standby is missing. Licenses that are in use are still ' +
    'validated; what changes something is refused.',
};

export function createReadiness(
  database: Pick<Database, 'isAvailable' | 'isReadOnly' | 'confirmsWrites'>,
  store: Pick<EphemeralStore, 'shared' | 'isAvailable'>,
  watch: Pick<Watch, 'mayServe'>,
): Readiness {
  let draining = false;

  const databasePart = (): Part => {
    if (database.isAvailable()) {
      if (!database.confirmsWrites()) return unconfirmed;
      return database.isReadOnly() ? readOnly : writable;
    }
    const detail = watch.mayServe
      ? 'The database does not answer. Licenses that are cached are still validated; all else is refused.'
      : 'The database does not answer. Requests are refused.';
    return { ready: false, detail };
  };
  const redisPart = (): Part =>
    store.isAvailable()
      ? { ready: true, detail: 'Redis answers.' }
      : {
          ready: false,
          detail:
            'Redis does not answer, or takes no writes. Sealed requests are refused, and each instance counts rate ' +
            'limits by itself.',
        };

  return {
    report: () => {
      const service: Part = draining
        ? { ready: false, detail: 'The service is stopping: requests under way are finished.' }
        : { ready: true, detail: 'The service takes requests.' };
      const parts = { service, database: databasePart(), ...(store.shared && { redis: redisPart() }) };
      return { ready: Object.values(parts).every(({ ready }) => ready), parts };
    },
    drain: () => {
      draining = true;
    },
  };
}
