import type { ServiceContext } from '../context.ts';
import { RateLimitedError } from '../errors.ts';

/**
 * Takes a point for each license from the developer's bucket `licenseRows`, which REST and GraphQL share, as does every
 * address that they mint from: what a call costs hangs on how many keys it makes.
 * @throws {ServiceError} RATE_LIMITED; then no point is taken
 */
export async function takeRows(
  { env: { store, settings, counts } }: ServiceContext,
  developerId: string,
  amount: number,
): Promise<void> {
  const limit = { name: 'licenseRows', points: settings.rateLimits.licenseRows } as const;
  const outcome = await store.consume(limit, developerId, amount);
  if (outcome.allowed) return;
  counts.rateLimited.add('licenseRows');
  throw new RateLimitedError(
    outcome,
    `Your account mints at most ${limit.points} keys a minute, and ${outcome.remaining} are left of them. ` +
      `Try again in ${outcome.resetSeconds} s, or mint fewer at once.`,
  );
}
