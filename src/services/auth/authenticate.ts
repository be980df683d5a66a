import { apiKeyTokenHash } from '../../crypto/api-key-token.ts';
import { readCookieToken } from '../../crypto/cookie-token.ts';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import type { DeveloperId } from '../../lib/ids.ts';
import type { Actor } from '../actor.ts';
import type { ServiceEnvironment } from '../context.ts';
import { RateLimitedError } from '../errors.ts';

/** A request's credentials. */
export interface Credentials {
  /** Value of the `service_session` cookie. */
  readonly cookie: string | null;
  /** The token after `Bearer ` in the Authorization header. */
  readonly bearer: string | null;
}

const anonymous = (rejected: 'cookie' | 'apiKey' | null): Actor => ({ type: 'anonymous', rejected });

/**
 * Identifies the caller. A valid cookie takes precedence over an API key. An invalid cookie does not prevent
 * authentication with a key, because browsers and cookie jars send cookies unprompted. Without a valid credential the
 * caller is anonymous; verbs that need a developer then throw UNAUTHENTICATED.
 * @param clientKey key of the limit for failed bearer attempts
 * @throws {ServiceError} RATE_LIMITED after too many failed bearer attempts
 */
export async function authenticate(
  env: ServiceEnvironment,
  credentials: Credentials,
  clientKey: string,
): Promise<Actor> {
  const { cookie, bearer } = credentials;
  const byItsCookie = cookie === null ? anonymous(null) : await byCookie(env, cookie);
  if (byItsCookie.type === 'developer' || bearer === null) return byItsCookie;
  return byApiKey(env, bearer, clientKey);
}

async function byCookie(env: ServiceEnvironment, cookie: string): Promise<Actor> {
  const claims = await readCookieToken(env.keyring, env.clock, cookie);
  if (claims === null) return anonymous('cookie');
  const developer = await env.database.prisma.developer.findUnique({
    where: { id: claims.developerId },
    select: { sessionVersion: true },
  });
  if (developer?.sessionVersion !== claims.sessionVersion) return anonymous('cookie');
  return { type: 'developer', via: 'cookie', ...claims };
}

/** The limit counts only failed attempts, and is checked before the look-up, so that guessing costs no database time. */
async function byApiKey(env: ServiceEnvironment, token: string, clientKey: string): Promise<Actor> {
  const limit = { name: 'apiKeyAuth', points: env.settings.rateLimits.apiKeyAuth } as const;
  const before = await env.store.peek(limit, clientKey);
  if (!before.allowed) throw limited(env, before);
  const key = await findKey(env, token);
  if (key !== null) return { type: 'developer', via: 'apiKey', ...key };
  const after = await env.store.consume(limit, clientKey);
  if (!after.allowed) throw limited(env, after);
  return anonymous('apiKey');
}

function limited(env: ServiceEnvironment, outcome: RateLimitOutcome): RateLimitedError {
  env.counts.rateLimited.add('apiKeyAuth');
  return new RateLimitedError(outcome);
}

async function findKey(
  env: ServiceEnvironment,
  token: string,
): Promise<{ developerId: DeveloperId; apiKeyId: string } | null> {
  const keyHash = apiKeyTokenHash(token);
  if (keyHash === null) return null;
  const key = await env.database.prisma.apiKey.findUnique({
    where: { keyHash },
    select: { id: true, developerId: true, revokedAt: true },
  });
  if (key === null || key.revokedAt !== null) return null;
  env.apiKeyUse.note(key.id);
  return { developerId: key.developerId as DeveloperId, apiKeyId: key.id };
}
