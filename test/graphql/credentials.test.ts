import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GraphqlClient } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import {
  ApplicationDocument,
  BanLicenseDocument,
  CreateApplicationDocument,
  CreateLicensesDocument,
  DeleteApplicationDocument,
  LicenseDetailsDocument,
  LicensesDocument,
  MeDocument,
  UpdateApplicationSettingsDocument,
} from './generated/graphql.ts';
import {
  createApiKey,
  createGraphqlWorld,
  expectRefused,
  type GraphqlWorld,
  nobodysId,
  noLimits,
  payloadOf,
  visitor,
  whoAmI,
} from './support.ts';

let server: TestServer;
let owner: GraphqlWorld;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  owner = await createGraphqlWorld(server);
});
afterAll(() => server.close());

interface Ids {
  readonly applicationId: string;
  readonly licenseId: string;
}

/** Every operation that needs a developer, on these ids. */
const operations: Record<string, (client: GraphqlClient, ids: Ids) => ReturnType<GraphqlClient['ask']>> = {
  createApplication: (client) => client.request(CreateApplicationDocument, { input: { name: 'Photo Lab' } }),
  application: (client, { applicationId: id }) => client.request(ApplicationDocument, { id }),
  'application.licenses': (client, { applicationId }) => client.request(LicensesDocument, { applicationId }),
  'license.application': (client, { applicationId }) =>
    client.request(LicenseDetailsDocument, { applicationId }),
  updateApplicationSettings: (client, { applicationId: id }) =>
    client.request(UpdateApplicationSettingsDocument, { input: { id, version: '9' } }),
  deleteApplication: (client, { applicationId: id }) =>
    client.request(DeleteApplicationDocument, { input: { id } }),
  createLicenses: (client, { applicationId }) =>
    client.request(CreateLicensesDocument, { input: { applicationId, amount: 1, durationSeconds: 0 } }),
  banLicense: (client, { licenseId: id }) => client.request(BanLicenseDocument, { input: { id } }),
  me: (client) => client.request(MeDocument),
};

async function seed(): Promise<Ids> {
  const application = await owner.createApplication();
  return { applicationId: application.id, licenseId: (await application.mintOne({ note: 'secret' })).id };
}

describe.each(Object.entries(operations))('%s', (_name, run) => {
  test('is UNAUTHENTICATED without credentials, whatever the ids', async () => {
    const ids = await seed();
    const answer = await run(visitor(server), ids);
    expectRefused(answer, 'UNAUTHENTICATED');
    const missing = await run(visitor(server), { applicationId: nobodysId, licenseId: nobodysId });
    expect(missing.answer.body).toEqual(answer.answer.body);
  });

  test('is UNAUTHENTICATED with invalid credentials', async () => {
    const ids = await seed();
    const { id, apiKey } = await createApiKey(owner.client);
    await server.deps.services.database.prisma.apiKey.update({
      where: { id },
      data: { revokedAt: new Date() },
    });
    for (const credentials of [
      { bearer: apiKey },
      { bearer: `service_live_${'a'.repeat(43)}` },
      { bearer: 'nonsense' },
      { cookie: 'nonsense' },
      { cookie: 'eyJhbGciOiJub25lIn0.e30.' },
    ]) {
      expectRefused(await run(visitor(server).with(credentials), ids), 'UNAUTHENTICATED');
    }
  });
});

test('an API key works through GraphQL until it is revoked', async () => {
  const { id, apiKey } = await createApiKey(owner.client);
  const client = visitor(server).with({ bearer: apiKey });
  expect(await whoAmI(client)).toBe(owner.developer.id);
  await server.deps.services.database.prisma.apiKey.update({
    where: { id },
    data: { revokedAt: new Date() },
  });
  expectRefused(await client.request(MeDocument), 'UNAUTHENTICATED');
});

test('every operation of a developer works with an API key', async () => {
  const { apiKey } = await createApiKey(owner.client);
  const client = visitor(server).with({ bearer: apiKey });
  for (const [name, run] of Object.entries(operations)) {
    expect((await run(client, await seed())).errors, name).toEqual([]);
  }
});

test('a cookie ends when session_version changes', async () => {
  const { graphql, developer } = await createGraphqlWorld(server);
  await server.deps.services.database.prisma.developer.update({
    where: { id: developer.id },
    data: { sessionVersion: { increment: 1 } },
  });
  expectRefused(await graphql.request(MeDocument), 'UNAUTHENTICATED');
});

describe("another developer's", () => {
  const byId = Object.entries(operations).filter(([name]) => name !== 'createApplication' && name !== 'me');

  test.each(byId)(
    'application or license is answered by %s exactly as one that does not exist',
    async (_name, run) => {
      const ids = await seed();
      const stranger = await createGraphqlWorld(server);
      const foreign = await run(stranger.graphql, ids);
      expect(foreign.codes).toEqual([expect.stringMatching(/^(APP|LICENSE)_NOT_FOUND$/)]);
      const missing = await run(stranger.graphql, { applicationId: nobodysId, licenseId: nobodysId });
      expect(foreign.answer.body).toEqual(missing.answer.body);
      expect(foreign.status).toBe(missing.status);
    },
  );

  test('data is unchanged afterwards', async () => {
    const ids = await seed();
    const before = await owner.graphql.request(LicenseDetailsDocument, ids);
    const stranger = await createGraphqlWorld(server);
    for (const [, run] of byId) await run(stranger.graphql, ids);
    const after = await owner.graphql.request(LicenseDetailsDocument, ids);
    expect(after.answer.body).toEqual(before.answer.body);
    const application = await owner.graphql.request(ApplicationDocument, { id: ids.applicationId });
    expect(payloadOf(application, 'application').version).toBe('1.0.0');
  });

  test('applications and licenses are in no list and no relation of mine', async () => {
    const stranger = await createGraphqlWorld(server);
    const mine = await stranger.createApplication();
    await mine.mintOne({ note: 'mine' });
    const ids = await seed();
    const answer = await stranger.graphql.ask(`{ me { applications(first: 5) { totalCount edges { node { id
      licenses(q: "", first: 5) { totalCount edges { node { id note application { id
        licenses { totalCount edges { node { note } } } } } } } } } } } }`);
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data)).not.toContain('secret');
    expect(JSON.stringify(answer.data)).not.toContain(ids.applicationId);
    expect(answer.data).toMatchObject({
      me: {
        applications: { totalCount: 1, edges: [{ node: { id: mine.id, licenses: { totalCount: 1 } } }] },
      },
    });
  });

  test('license key finds nothing in my search', async () => {
    const application = await owner.createApplication();
    const { licenseKey } = await application.mintOne();
    const stranger = await createGraphqlWorld(server);
    const mine = await stranger.createApplication();
    const variables = { applicationId: mine.id, q: licenseKey };
    const answer = await stranger.graphql.request(LicensesDocument, variables);
    expect(payloadOf(answer, 'application').licenses).toMatchObject({ totalCount: 0, edges: [] });
  });
});

test('the response to a login shows the account that logged in, not that of the sent cookie', async () => {
  const other = await createGraphqlWorld(server);
  const { id } = await other.createApplication({ name: 'Theirs' });
  const answer = await owner.graphql.ask(
    `mutation ($input: LoginInput!) { login(input: $input) { developer { id
      applications { edges { node { id licenses { totalCount } } } } } } }`,
    { input: { email: other.developer.email, password: other.developer.password } },
  );
  expect(answer.data).toEqual({
    login: {
      developer: {
        id: other.developer.id,
        applications: { edges: [{ node: { id, licenses: { totalCount: 0 } } }] },
      },
    },
  });
});
