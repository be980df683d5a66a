import { ServiceError } from './errors.ts';

/** Concurrent exports per developer and process; each holds several pages of rows in memory. */
const maxConcurrent = 3;

/** Tracks this process's running exports. */
export interface ExportSlots {
  /**
   * Takes a slot for an export.
   * @returns a function that releases the slot; further calls have no effect
   * @throws {ServiceError} TOO_MANY_EXPORTS
   */
  take(developerId: string): () => void;
}

export function createExportSlots(): ExportSlots {
  const taken = new Map<string, Set<symbol>>();
  return {
    take(developerId) {
      const own = taken.get(developerId) ?? new Set();
      if (own.size >= maxConcurrent) {
        throw new ServiceError(
          'TOO_MANY_EXPORTS',
          `${own.size} exports of this account are already in progress. Try again when one has finished.`,
        );
      }
      const slot = Symbol('export');
      taken.set(developerId, own.add(slot));
      return () => {
        own.delete(slot);
        if (own.size === 0 && taken.get(developerId) === own) taken.delete(developerId);
      };
    },
  };
}
