import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { createUseRecorder, type UseRecorder } from '../use-recorder.ts';

/**
 * Records when API keys were used. A stored time that is up to an hour later is kept, because another instance may have
 * written it. One further ahead comes from a clock that was wrong.
 */
export const createApiKeyUseRecorder = (
  database: Pick<Database, 'pool'>,
  clock: Clock,
  log: Logger,
): UseRecorder =>
  createUseRecorder(database, clock, log, {
    update: `
      UPDATE api_keys SET last_used_at = used.at
      FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
      WHERE api_keys.id = used.id AND
        (last_used_at BETWEEN used.at AND used.at + interval '1 hour') IS NOT TRUE`,
    failure: 'API key usage could not be written',
  });
