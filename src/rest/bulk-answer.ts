import { z } from 'zod';
import { type BulkOutcome, sampleSize } from '../services/license/bulk.ts';
import { jsonAnswer } from './route.ts';
import { bulkPreviewSchema, bulkRunSchema } from './schemas.ts';

/** The response of a route that changes many licenses. */
export const bulkAnswer = jsonAnswer(
  'With `dryRun`, a preview; otherwise the results',
  z.union([bulkPreviewSchema, bulkRunSchema]),
);

/** Its body: of a preview a sample, and the ids of the licenses that would be changed. */
export function shownOutcome({ dryRun, results, ...counts }: BulkOutcome) {
  if (!dryRun) {
    const shown = results.map(({ keyPrefix: _, ...result }) => result);
    return { success: true as const, dryRun: false as const, ...counts, results: shown };
  }
  const changed = results.filter(({ outcome }) => outcome === 'changed');
  const sample = results.slice(0, sampleSize);
  const ids = changed.map(({ id }) => id);
  return { success: true as const, dryRun: true as const, ...counts, sample, ids };
}
