import type { Config } from '../config.ts';
import type { Logger } from '../lib/log.ts';
import { mayBeSameSite } from '../lib/site.ts';

/** Logs that the service is ready, with warnings about its configuration. */
export function announce(config: Config, log: Logger): void {
  if (config.turnstile === null)
    log.warn('TURNSTILE_SECRET_KEY is not set: the bot challenge is not checked');
  for (const origin of config.corsOrigins) {
    if (!mayBeSameSite(origin, config.publicUrl))
      log.warn({ origin }, crossSiteAdvice(origin, config.publicUrl));
  }
  const { database, redis, workers } = config;
  log.info(
    { database: database.kind, redis: redis !== null, ...(workers > 1 && { workers }) },
    `Listening on ${config.publicUrl}`,
  );
  if (process.stdout.isTTY)
    log.info(`Open ${config.publicUrl} in a browser for an overview. Press Ctrl-C to stop`);
}

const crossSiteAdvice = (origin: string, publicUrl: string) =>
  `CORS_ORIGINS has ${origin}, which is a different site from ${publicUrl}: browsers do not store this service's session ` +
  'cookie for its pages, so a login there succeeds but has no effect. Serve both from one site, such as ' +
  'https://dash.example.com and https://licenses.example.com, or behind one proxy, or call the service from a server ' +
  'with an API key (docs/integrating.md)';
