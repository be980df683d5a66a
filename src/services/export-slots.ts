import { ServiceError } from './errors.ts';

/** How many exports of one developer a process makes at once: each holds some pages of rows in memory. */
const mostAtOnce = 3;

/** The exports that this process is making. */
export interface ExportSlots {
  /**
   * Begins an export of a developer.
   * @returns what ends it; ending it again changes nothing
   * @throws {ServiceError} TOO_MANY_EXPORTS
   */
  take(developerId: string): () => void;
}

export function createExportSlots(): ExportSlots {
  const taken = new Map<string, Set<symbol>>();
  return {
    take(developerId) {
      const own = taken.get(developerId) ?? new Set();
      if (own.size >= mostAtOnce) {
        throw new ServiceError(
          'TOO_MANY_EXPORTS',
          `${own.size} exports of this account are being made already. Try again when one has ended.`,
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
