import { createRequire } from 'node:module';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import { describe, expect, test } from 'vitest';
import { createLimiterClass, limiterKey } from '../../src/ephemeral/limiter-class.ts';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';
import { redisInstances, redisUrl } from './support.ts';

// The directive requires graphql's CommonJS build, as everything does under Node; vitest's resolver would hand this
// file the other one, whose types are of another realm.
const { buildSchema, graphql }: typeof import('graphql') = createRequire(import.meta.url)('graphql');

function limitedSchema(store: EphemeralStore) {
  const { rateLimitDirectiveTypeDefs, rateLimitDirectiveTransformer } = rateLimitDirective({
    limiterClass: createLimiterClass(store),
    keyGenerator: (_args, _source, _fieldArgs, _context, info) =>
      limiterKey(info.fieldName === 'login' ? 'auth' : 'clientAuth', '192.0.2.1'),
  });
  return rateLimitDirectiveTransformer(
    buildSchema(`${rateLimitDirectiveTypeDefs}
      type Query {
        login: Boolean @rateLimit(limit: 3, duration: 60)
        other: Boolean @rateLimit(limit: 3, duration: 60)
      }`),
  );
}

describe('in memory', () => contract(async () => createMemoryStore()));
describe.skipIf(redisUrl === undefined)('in Redis', () =>
  contract(() => redisInstances(redisUrl ?? '').open()),
);

function contract(open: () => Promise<EphemeralStore>): void {
  const limit = { name: 'auth', points: 3 } as const;

  test('a GraphQL field and a REST request draw on one bucket, and every alias counts', async () => {
    const store = await open();
    const schema = limitedSchema(store);
    expect(await store.consume(limit, '192.0.2.1')).toMatchObject({ allowed: true, remaining: 2 });
    const first = await graphql({ schema, source: '{ a: login b: login c: login }' });
    expect(first.errors).toHaveLength(1);
    expect(first.errors?.[0]?.message).toMatch(/^Too many requests/);
    expect(await store.consume(limit, '192.0.2.1')).toMatchObject({ allowed: false });
  });

  test('two names with equal limits have buckets of their own', async () => {
    const schema = limitedSchema(await open());
    const answer = await graphql({ schema, source: '{ a: login b: login c: login d: other }' });
    expect(answer.errors).toBeUndefined();
  });
}

test('a key without the name of a limit is a mistake, not a bucket', async () => {
  const limiter = new (createLimiterClass(createMemoryStore()))({ points: 1, duration: 60 });
  await expect(limiter.consume('192.0.2.1')).rejects.toThrow(/names no limit/);
});
