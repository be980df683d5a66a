import type { Config } from '../config.ts';
import type { Logger } from '../lib/log.ts';
import { mayBeSameSite } from '../lib/site.ts';

/** Says that the service answers, once all of it does. */
export function announce(config: Config, log: Logger): void {
  if (config.turnstile === null)
    log.warn('TURNSTILE_SECRET_KEY is not set: the bot challenge is not checked');
  for (const origin of config.corsOrigins) {
    if (!mayBeSameSite(origin, config.publicUrl))
      log.warn({ origin }, crossSiteAdvice(origin, config.publicUrl));
  }
  const { database, redisUrl, workers } = config;
  log.info(
    { database: database.kind, redis: redisUrl !== null, ...(workers > 1 && { workers }) },
    `Listening on ${config.publicUrl}`,
  );
  if (process.stdout.isTTY)
    log.info(`Open ${config.publicUrl} in a browser: it links everything. Stop with Ctrl-C`);
}

const crossSiteAdvice = (origin: string, publicUrl: string) =>
  `CORS_ORIGINS has ${origin}, which is another site than ${publicUrl}: browsers keep no session cookie of this service ` +
  'for its pages, so that a login there succeeds and nobody is logged in. Serve both under one site, as ' +
  'https://dash.example.com and https://licenses.example.com or behind one proxy, or have its server call with an API ' +
  'key (docs/integrating.md)';
