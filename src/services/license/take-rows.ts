import type { ServiceContext } from '../context.ts';
import { RateLimitedError } from '../errors.ts';

/**
 * Takes one point per license from the developer's limit `licenseRows`, because the cost of a call depends on the number
 * of its licenses. The limit is per account: REST, GraphQL and all client addresses share it.
 * @throws {RateLimitedError} RATE_LIMITED; no point is taken then
 */
export async function takeRows(
  { env: { store, settings, counts } }: ServiceContext,
  developerId: string,
  amount: number,
  verb: 'create' | 'change' = 'create',
): Promise<void> {
  const limit = { name: 'licenseRows', points: settings.rateLimits.licenseRows } as const;
  const outcome = await store.consume(limit, developerId, amount);
  if (outcome.allowed) return;
  counts.rateLimited.add('licenseRows');
  throw new RateLimitedError(
    outcome,
    `Your account can ${verb} ${limit.points} licenses per minute, of which ${outcome.remaining} are left. ` +
      `Try again in ${outcome.resetSeconds} s, or ${verb} fewer at once.`,
  );
}
