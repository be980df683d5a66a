import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateLimitName, rateLimitDefaults, rateLimitWindowSeconds } from '../ephemeral/rate-limits.ts';
import type { ServiceEnvironment } from '../services/context.ts';
import { RateLimitedError } from '../services/errors.ts';
import type { GraphqlContext } from './context.ts';

/** Field options that apply one of REST's rate limits to a field. Every alias of the field takes a point. */
export const rateLimited = (name: RateLimitName) => ({
  directives: { rateLimit: { limit: rateLimitDefaults[name], duration: rateLimitWindowSeconds } },
  extensions: { rateLimitName: name },
});

/**
 * Applies `@rateLimit` with the buckets of REST: the directive's limiter delegates to the shared store, which counts by
 * name and client address. The configured limit applies; the directive's argument documents the default.
 */
export function applyRateLimits(
  schema: GraphQLSchema,
  {
    store,
    counts,
    settings: { rateLimits: limits },
  }: Pick<ServiceEnvironment, 'store' | 'counts' | 'settings'>,
): GraphQLSchema {
  class SharedBucket extends RateLimiterMemory {
    override async consume(key: string): Promise<RateLimiterRes> {
      const { name, clientKey } = parseBucketKey(key);
      const outcome = await store.consume({ name, points: limits[name] }, clientKey);
      if (!outcome.allowed) {
        counts.rateLimited.add(name);
        throw new RateLimitedError(outcome);
      }
      return new RateLimiterRes(
        outcome.remaining,
        outcome.resetSeconds * 1000,
        limits[name] - outcome.remaining,
      );
    }
  }
  const { rateLimitDirectiveTransformer } = rateLimitDirective<GraphqlContext, object>({
    limiterClass: SharedBucket,
    keyGenerator: (_directive, _source, _args, context, info) => bucketKey(info, context),
  });
  return rateLimitDirectiveTransformer(schema);
}

/** The directive passes one string to its limiter. Names have no colon, so the first colon ends the name. */
function bucketKey(info: GraphQLResolveInfo, context: GraphqlContext): string {
  const field = info.parentType.getFields()[info.fieldName];
  return `${String(field?.extensions.rateLimitName)}:${context.service.client.limitKey}`;
}

function parseBucketKey(key: string): { name: RateLimitName; clientKey: string } {
  const end = key.indexOf(':');
  const name = key.slice(0, end);
  if (!isRateLimitName(name))
    throw new TypeError(`A field has @rateLimit without the name of a limit: ${name}`);
  return { name, clientKey: key.slice(end + 1) };
}

const isRateLimitName = (name: string): name is RateLimitName => Object.hasOwn(rateLimitDefaults, name);
