import type { ServiceContext } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import { totpInvalid } from './fields.ts';

/** Codes that may be tried for an account within a window. A right one ends the window. */
export const attemptLimit = { attempts: 5, windowSeconds: 15 * 60 } as const;

interface Attempt {
  readonly secretEncrypted: Uint8Array;
  /** Null before the first code. */
  readonly lastStep: number | null;
}

/**
 * Takes an attempt at a TOTP code, for a caller who knows the password. It is one conditional statement, so parallel
 * attempts on any number of instances share the limit. A window further ahead than its length comes from a clock that was
 * wrong, and is over.
 * @throws {ServiceError} RATE_LIMITED with the time until the window ends; TOTP_INVALID if TOTP was turned off meanwhile
 */
export async function takeAttempt({ env }: ServiceContext, developerId: string): Promise<Attempt> {
  const { pool } = env.database;
  const now = new Date(env.clock.now());
  const { attempts, windowSeconds } = attemptLimit;
  const { rows } = await pool.query<{ secretEncrypted: Buffer; lastStep: string | null }>(
    `UPDATE developers SET
       totp_attempts = CASE WHEN ${isOver} THEN 1 ELSE totp_attempts + 1 END,
       totp_attempts_since = CASE WHEN ${isOver} THEN $2 ELSE totp_attempts_since END
     WHERE id = $1 AND totp_enabled_at IS NOT NULL AND (${isOver} OR totp_attempts < $4)
     RETURNING totp_secret_encrypted AS "secretEncrypted", totp_last_step::text AS "lastStep"`,
    [developerId, now, windowSeconds, attempts],
  );
  const [taken] = rows;
  if (taken === undefined) throw await refusal(env, developerId, now);
  const { secretEncrypted, lastStep } = taken;
  return { secretEncrypted, lastStep: lastStep === null ? null : Number(lastStep) };
}

/** Of the time $2 and the window's length $3 in seconds. */
const isOver = `(totp_attempts_since > $2::timestamptz - $3 * interval '1 second'
  AND totp_attempts_since <= $2::timestamptz + $3 * interval '1 second') IS NOT TRUE`;

async function refusal(
  { database, counts }: ServiceContext['env'],
  developerId: string,
  now: Date,
): Promise<Error> {
  const { rows } = await database.pool.query<{ since: Date | null }>(
    'SELECT totp_attempts_since AS since FROM developers WHERE id = $1 AND totp_enabled_at IS NOT NULL',
    [developerId],
  );
  const since = rows[0]?.since;
  if (since === undefined || since === null) return totpInvalid();
  const { attempts, windowSeconds } = attemptLimit;
  const left = Math.ceil(windowSeconds - (now.getTime() - since.getTime()) / 1000);
  const resetSeconds = Math.min(Math.max(left, 1), windowSeconds);
  counts.rateLimited.add('auth');
  return new RateLimitedError(
    { allowed: false, limit: attempts, remaining: 0, resetSeconds },
    `Too many wrong codes. Try again in ${resetSeconds} s, or use a recovery code.`,
  );
}
