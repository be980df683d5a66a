import { describe, expect, test } from 'vitest';
import { scopes } from '../../src/services/scopes.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { ApiKeysDocument, CreateApiKeyDocument, RevokeApiKeyDocument } from './generated/graphql.ts';
import {
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  nobodysId,
  noLimits,
  payloadOf,
  visitor,
  whoAmI,
} from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createGraphqlWorld(server));

const create = async (name = 'ci') =>
  payloadOf(await world.graphql.request(CreateApiKeyDocument, { input: { name } }), 'createApiKey');
const revoke = (id: string) => world.graphql.request(RevokeApiKeyDocument, { input: { id } });
const list = async (filter?: { revoked: boolean }) => {
  const answer = await world.graphql.request(ApiKeysDocument, { filter });
  return payloadOf(answer, 'me').account.apiKeys;
};
const keysOf = ({ edges }: Awaited<ReturnType<typeof list>>) => edges.map(({ node }) => node);
const by = (bearer: string) => visitor(server).with({ bearer });

describe('createApiKey', () => {
  test('shows a key once, which authenticates the account', async () => {
    const { apiKey, key, warning } = await create('build server');
    expect(apiKey).toMatch(/^service_live_/);
    expect(warning).toContain('shown only now');
    expect(key).toEqual({
      id: key.id,
      name: 'build server',
      keyPrefix: expect.any(String),
      scopes: [...scopes],
      applicationId: null,
      allowedCidrs: [],
      expiresAt: null,
      previousValidUntil: null,
      createdAt: expect.any(String),
      lastUsedAt: null,
      revoked: false,
    });
    expect(apiKey.startsWith(key.keyPrefix)).toBe(true);
    expect(await whoAmI(by(apiKey))).toBe(world.developer.id);
    const answer = await world.graphql.request(ApiKeysDocument);
    expect(JSON.stringify(answer.answer.body)).not.toContain(apiKey);
    expect(keysOf(payloadOf(answer, 'me').account.apiKeys)).toMatchObject([
      { id: key.id, name: 'build server' },
    ]);
  });

  test.each([
    ['an empty name', ''],
    ['a blank name', '  '],
    ['a name of 101 characters', 'a'.repeat(101)],
    ...illFormedTexts.map(([what, text]) => [`${what} in the name`, text]),
  ])('refuses %s', async (_what, name) => {
    expectIssues(await world.graphql.request(CreateApiKeyDocument, { input: { name } }), [['name']]);
    expect((await list()).totalCount).toBe(0);
  });
});

describe('an API key', () => {
  test('shows when it was last used', async () => {
    const { apiKey, key } = await create();
    const other = await create('unused');
    const before = server.clock.now();
    await whoAmI(by(apiKey));
    await server.deps.services.apiKeyUse.flush();
    const listed = keysOf(await list());
    expect(listed).toMatchObject([{ id: other.key.id, lastUsedAt: null }, { id: key.id }]);
    const lastUsedAt = Date.parse(listed[1]?.lastUsedAt ?? '');
    expect(lastUsedAt).toBeGreaterThanOrEqual(before);
    expect(lastUsedAt).toBeLessThanOrEqual(server.clock.now());
  });

  test('equals the item in the REST list', async () => {
    await create();
    const { key } = await create();
    await revoke(key.id);
    const rest = await world.client.get('/api/v1/account/api-keys');
    const listed = keysOf(await list()).map(({ lastUsedAt, ...one }) => ({
      ...one,
      last_used_at: lastUsedAt,
    }));
    expect(rest.body).toEqual({ success: true, keys: listed, nextCursor: null });
  });
});

describe('revokeApiKey', () => {
  test('returns the revoked key, which no longer works', async () => {
    const { apiKey, key } = await create();
    expect(payloadOf(await revoke(key.id), 'revokeApiKey')).toEqual({ key: { ...key, revoked: true } });
    const refused = await by(apiKey).request(ApiKeysDocument);
    expect(refused.codes).toEqual(['UNAUTHENTICATED']);
    expect(refused.data).toEqual({ me: null });
  });

  test('again changes nothing, and is logged once', async () => {
    const { key } = await create();
    await revoke(key.id);
    expect(payloadOf(await revoke(key.id), 'revokeApiKey').key.revoked).toBe(true);
    const entries = await sql(
      server,
      `SELECT id FROM security_log WHERE developer_id = $1 AND event = 'api_key_revoked'`,
      [world.developer.id],
    );
    expect(entries).toHaveLength(1);
  });

  test('of the key of this request succeeds and gets a response', async () => {
    const { apiKey, key } = await create();
    const answer = await by(apiKey).request(RevokeApiKeyDocument, { input: { id: key.id } });
    expect(payloadOf(answer, 'revokeApiKey').key).toMatchObject({ id: key.id, revoked: true });
    expect((await by(apiKey).request(ApiKeysDocument)).codes).toEqual(['UNAUTHENTICATED']);
  });

  test.each([nobodysId, 'no-uuid', '', '\0'])('returns API_KEY_NOT_FOUND for %j', async (id) => {
    expectRefused(await revoke(id), 'API_KEY_NOT_FOUND');
  });
});

describe('the filter of API keys', () => {
  test('separates revoked keys from valid ones, and counts them', async () => {
    const [works, gone] = [(await create()).key.id, (await create()).key.id];
    await revoke(gone);
    for (const [filter, ids] of [
      [undefined, [gone, works]],
      [{ revoked: true }, [gone]],
      [{ revoked: false }, [works]],
    ] as const) {
      const found = await list(filter);
      expect(keysOf(found).map(({ id }) => id)).toEqual(ids);
      expect(found.totalCount).toBe(ids.length);
    }
  });
});
