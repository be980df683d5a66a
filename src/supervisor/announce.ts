import type { Config } from '../config.ts';
import type { Logger } from '../lib/log.ts';

/** Says that the service answers, once all of it does. */
export function announce(config: Config, log: Logger): void {
  if (config.turnstile === null)
    log.warn('TURNSTILE_SECRET_KEY is not set: the bot challenge is not checked');
  const { database, redisUrl, workers } = config;
  log.info(
    { database: database.kind, redis: redisUrl !== null, ...(workers > 1 && { workers }) },
    `Listening on ${config.publicUrl}`,
  );
}
