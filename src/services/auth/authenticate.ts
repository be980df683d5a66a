import { readCookieToken, type SignedCookieClaims } from '../../crypto/cookie-token.ts';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import { isOutdated } from '../account-session/note-use.ts';
import type { Actor, Rejection } from '../actor.ts';
import type { ClientOrigin } from '../client-origin.ts';
import type { ServiceEnvironment } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import { findApiKey } from './find-api-key.ts';

/** A request's credentials. */
export interface Credentials {
  /** Value of the `service_session` cookie. */
  readonly cookie: string | null;
  /** The token after `Bearer ` in the Authorization header. */
  readonly bearer: string | null;
}

const anonymous = (rejected: Rejection | null): Actor => ({ type: 'anonymous', rejected });

/**
 * Identifies the caller. A valid cookie takes precedence over an API key. An invalid cookie does not prevent
 * authentication with a key, because browsers and cookie jars send cookies unprompted. Without a valid credential the
 * caller is anonymous; verbs that need a developer then throw UNAUTHENTICATED.
 * @param client its rate limit key is that of the limit for failed bearer attempts
 * @throws {ServiceError} RATE_LIMITED after too many failed bearer attempts
 */
export async function authenticate(
  env: ServiceEnvironment,
  credentials: Credentials,
  client: ClientAddress,
): Promise<Actor> {
  const { cookie, bearer } = credentials;
  const byItsCookie = cookie === null ? anonymous(null) : await byCookie(env, cookie);
  if (byItsCookie.type === 'developer' || bearer === null) return byItsCookie;
  return byApiKey(env, bearer, client);
}

type ClientAddress = Pick<ClientOrigin, 'ip' | 'limitKey'>;

async function byCookie(env: ServiceEnvironment, cookie: string): Promise<Actor> {
  const claims = await readCookieToken(env.keyring, env.clock, cookie);
  if (claims === null) return anonymous('cookie');
  const found = await findAccount(env, claims);
  // A session is good while its row exists and has the developer's session version. A cookie without a session, of the
  // version before, is good while it has that version itself.
  const version = claims.sessionId === null ? claims.sessionVersion : found?.sessionVersion;
  if (found === undefined || found.currentVersion !== version) return anonymous('cookie');
  if (
    claims.sessionId !== null &&
    found.lastSeenAt !== null &&
    isOutdated(found.lastSeenAt, env.clock.now())
  ) {
    env.sessionUse.note(claims.sessionId);
  }
  return { type: 'developer', via: 'cookie', name: found.name, ...claims };
}

/** Reads the developer and the session in one statement: every request with a cookie waits for it. */
async function findAccount(env: ServiceEnvironment, { developerId, sessionId }: SignedCookieClaims) {
  const [found] = await env.database.prisma.$queryRaw<
    { name: string; currentVersion: number; sessionVersion: number | null; lastSeenAt: Date | null }[]
  >`
    SELECT developers.name, developers.session_version AS "currentVersion", account_sessions.session_version AS "sessionVersion",
      account_sessions.last_seen_at AS "lastSeenAt"
    FROM developers LEFT JOIN account_sessions
      ON account_sessions.id = ${sessionId}::uuid AND account_sessions.developer_id = developers.id
    WHERE developers.id = ${developerId}::uuid`;
  return found;
}

/**
 * The limit counts only failed attempts, and is checked before the look-up, so that guessing costs no database time. A
 * token that exists was not guessed, even if its key has expired or the address is not allowed.
 */
async function byApiKey(env: ServiceEnvironment, token: string, client: ClientAddress): Promise<Actor> {
  const limit = { name: 'apiKeyAuth', points: env.settings.rateLimits.apiKeyAuth } as const;
  const before = await env.store.peek(limit, client.limitKey);
  if (!before.allowed) throw limited(env, before);
  const found = await findApiKey(env, token, client);
  if (typeof found === 'object') {
    env.apiKeyUse.note(found.apiKeyId);
    return found;
  }
  if (found === 'apiKey') {
    const after = await env.store.consume(limit, client.limitKey);
    if (!after.allowed) throw limited(env, after);
  }
  return anonymous(found);
}

function limited(env: ServiceEnvironment, outcome: RateLimitOutcome): RateLimitedError {
  env.counts.rateLimited.add('apiKeyAuth');
  return new RateLimitedError(outcome);
}
