import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, Kind, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as management from '../../src/management/index.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createManagedWorld, listOf } from './support.ts';

const folder = new URL('../../src/management/operations/', import.meta.url);
const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
const definitions = readdirSync(folder).flatMap((file) => [
  ...parse(readFileSync(new URL(file, folder), 'utf8')).definitions,
]);

test('every root field of the schema but the generic node has an operation', () => {
  const asked = definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections : [],
  );
  const names = new Set(asked.map((field) => (field.kind === Kind.FIELD ? field.name.value : '')));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((root) => Object.keys(root?.getFields() ?? {}));
  expect(fields.length).toBeGreaterThan(8);
  // What a program asks of a node depends on the types that it expects: it brings its own document.
  expect(fields.filter((field) => !names.has(field))).toEqual(['node']);
});

async function countOf(items: AsyncIterable<unknown>): Promise<number> {
  return (await listOf(items)).length;
}

describe('on the running service', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test('every list can be requested in pages of 200, the maximum', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const { id: applicationId, mintOne } = await createApplication();
    const { createWebhook } = await latchkey.request(management.CreateWebhookDocument, {
      input: { url: 'https://example.com/hook', types: ['license.banned'] },
    });
    const ofWebhook = { first: 200, id: createWebhook.webhook.id };
    const ofLicense = { first: 200, licenseId: (await mintOne()).id };
    const mine = { first: 200 };
    const of = { ...mine, applicationId };
    const lists = [
      latchkey.paginate(management.ApplicationsDocument, mine, (data) => data.me.applications),
      latchkey.paginate(management.LicensesDocument, of, (data) => data.application.licenses),
      latchkey.paginate(management.EndUsersDocument, of, (data) => data.application.users),
      latchkey.paginate(management.DevicesDocument, ofLicense, (data) => data.license.devices),
      latchkey.paginate(management.PoliciesDocument, of, (data) => data.application.policies),
      latchkey.paginate(management.BansDocument, of, (data) => data.application.bans),
      latchkey.paginate(management.SecurityLogDocument, of, (data) => data.application.securityLog),
      latchkey.paginate(management.AccountSecurityLogDocument, mine, (data) => data.me.account.securityLog),
      latchkey.paginate(management.ApiKeysDocument, mine, (data) => data.me.account.apiKeys),
      latchkey.paginate(management.SessionsDocument, mine, (data) => data.me.account.sessions),
      latchkey.paginate(management.WebhooksDocument, mine, (data) => data.me.account.webhooks),
      latchkey.paginate(management.WebhookDeliveriesDocument, ofWebhook, (data) => data.webhook.deliveries),
    ];
    for (const list of lists) expect(await countOf(list.pages())).toBe(1);
    const paged = definitions.filter(
      (definition) =>
        definition.kind === Kind.OPERATION_DEFINITION &&
        definition.variableDefinitions?.some(({ variable }) => variable.name.value === 'first'),
    );
    const { events } = await latchkey.request(management.EventsDocument, {
      first: 200,
      types: ['application.*'],
    });
    expect(events).toMatchObject({ events: [{ type: 'application.created' }], hasMore: false });
    expect(paged.length).toBe(lists.length + 1);
  });

  test('an end user can be created, found, exported and deleted, and a device reset without a device fails', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const application = await createApplication();
    const applicationId = application.id;
    const { licenseKey } = await application.mintOne({ subscriptionTier: 2 });
    const { createEndUser } = await latchkey.request(management.CreateEndUserDocument, {
      input: { applicationId, username: 'grace', password: 'grace hopper', licenseKey },
    });
    const { id: userId } = createEndUser.user;
    expect(createEndUser.user).toMatchObject({ username: 'grace', license: { subscriptionTier: 2 } });
    const { endUser } = await latchkey.request(management.EndUserDocument, { id: userId });
    expect(endUser).toEqual(createEndUser.user);
    const input = { applicationId, userId };
    await expect(latchkey.request(management.ResetEndUserHwidDocument, { input })).rejects.toMatchObject({
      code: 'HWID_NOT_SET',
    });
    const { endUserExport } = await latchkey.request(management.EndUserExportDocument, { applicationId });
    expect(JSON.stringify(endUserExport)).toContain(userId);
    const { deleteEndUser } = await latchkey.request(management.DeleteEndUserDocument, { input });
    expect(deleteEndUser).toEqual({ deletedUserId: userId });
  });

  test('sessions can be listed and ended', async () => {
    const { latchkey } = await createManagedWorld(server);
    const { totalCount, edges } = (await latchkey.request(management.SessionsDocument)).me.account.sessions;
    // The program has an API key, and no session.
    expect({ totalCount, current: edges.map(({ node }) => node.current) }).toEqual({
      totalCount: 1,
      current: [false],
    });
    const input = { id: edges[0]?.node.id ?? '' };
    const { revokeSession } = await latchkey.request(management.RevokeSessionDocument, { input });
    expect(revokeSession).toEqual({ revokedSessionId: input.id });
    const { revokeOtherSessions } = await latchkey.request(management.RevokeOtherSessionsDocument);
    expect(revokeOtherSessions).toEqual({ revoked: 0 });
  });

  test('an API key can be created, used, listed and revoked', async () => {
    const { latchkey } = await createManagedWorld(server);
    const { createApiKey } = await latchkey.request(management.CreateApiKeyDocument, {
      input: { name: 'deploy' },
    });
    const { apiKey, key } = createApiKey;
    const other = management.createManagementClient({ baseUrl: server.baseUrl, apiKey });
    const { metrics } = await other.request(management.MetricsDocument);
    expect(metrics.applications).toEqual({ total: 0, active: 0, disabled: 0 });
    const { metricsHistory } = await other.request(management.MetricsHistoryDocument, { period: 'month' });
    expect(metricsHistory.activations).toHaveLength(30);
    const keys = other.paginate(management.ApiKeysDocument, {}, (data) => data.me.account.apiKeys);
    expect((await listOf(keys)).map(({ name }) => name)).toEqual(['deploy', 'ci']);
    await latchkey.request(management.RevokeApiKeyDocument, { input: { id: key.id } });
    await expect(other.request(management.MeDocument)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
