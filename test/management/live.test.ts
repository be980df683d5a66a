import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createManagementClient,
  DeleteApplicationDocument,
  EventsDocument,
  FollowEventsDocument,
  type FollowOptions,
  FollowSecurityLogDocument,
  RevokeApiKeyDocument,
  SecurityLogDocument,
  SetLicenseTierDocument,
  UpdateApplicationSettingsDocument,
} from '../../src/management/index.ts';
import { createApiKey, nobodysId } from '../graphql/support.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { rejectionOf } from './stand-in.ts';
import { clientOf, createManagedWorld, listOf, unknownKey } from './support.ts';

test('events are followed after a page of them', async () => {
  const server = await startTestServer();
  try {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const application = await createApplication();
    const { events } = await latchkey.request(EventsDocument, { types: ['application.*'] });
    const after = events?.nextCursor ?? '';
    const live = latchkey.follow(FollowEventsDocument, { after, types: ['license.*'] });
    const { id } = await application.mintOne();
    expect((await live.next()).value).toMatchObject({
      type: 'license.created',
      sequence: (events?.events.at(-1)?.sequence ?? 0) + 1,
      data: { licenses: [{ id }] },
    });
    await live.return();
  } finally {
    await server.close();
  }
});

/** An id lower than all others. */
const fromTheBeginning = '00000000-0000-7000-8000-000000000000';

const quick: FollowOptions = { firstPauseMilliseconds: 10, longestPauseMilliseconds: 100 };

describe("an application's security log", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test('is followed live, and resumed after an id', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const application = await createApplication();
    const license = await application.mintOne();
    const of = { applicationId: application.id };
    const log = latchkey.paginate(
      SecurityLogDocument,
      { ...of, last: 1 },
      (data) => data.application.securityLog,
    );
    const before = await listOf(log);
    expect(before.map(({ event }) => event)).toEqual(['application_created', 'licenses_created']);

    const live = latchkey.follow(FollowSecurityLogDocument, { ...of, after: before[0]?.id });
    expect((await live.next()).value).toEqual(before[1]);
    const next = live.next();
    await latchkey.request(SetLicenseTierDocument, { input: { id: license.id, subscriptionTier: 3 } });
    expect((await next).value).toMatchObject({ event: 'license_tier_changed', licenseId: license.id });
    await live.return();
    expect(await listOf(log)).toHaveLength(3);
  });

  test('is filtered', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const application = await createApplication();
    const license = await application.mintOne();
    const live = latchkey.follow(FollowSecurityLogDocument, {
      applicationId: application.id,
      after: fromTheBeginning,
      events: ['license_tier_changed'],
    });
    await latchkey.request(SetLicenseTierDocument, { input: { id: license.id, subscriptionTier: 3 } });
    expect((await live.next()).value).toMatchObject({ event: 'license_tier_changed' });
    await live.return();
  });

  test('ends with UNAUTHENTICATED when the key is revoked', async () => {
    const { client, latchkey, createApplication } = await createManagedWorld(server);
    const application = await createApplication();
    const { id, apiKey } = await createApiKey(client);
    const variables = { applicationId: application.id, after: fromTheBeginning };
    const live = clientOf(server, apiKey).follow(FollowSecurityLogDocument, variables, quick);
    expect((await live.next()).value).toMatchObject({ event: 'application_created' });
    const end = rejectionOf(live.next());
    await latchkey.request(RevokeApiKeyDocument, { input: { id } });
    expect(await end).toMatchObject({ name: 'ManagementError', code: 'UNAUTHENTICATED' });
  });

  test('ends with APP_NOT_FOUND when the application is deleted', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const { id } = await createApplication();
    const variables = { applicationId: id, after: fromTheBeginning };
    const live = latchkey.follow(FollowSecurityLogDocument, variables, quick);
    await live.next();
    const end = rejectionOf(listOf(live));
    await latchkey.request(DeleteApplicationDocument, { input: { id } });
    expect(await end).toMatchObject({ code: 'APP_NOT_FOUND' });
  });

  test('is refused without a key, and for a missing application', async () => {
    const variables = { applicationId: nobodysId };
    const nobody = clientOf(server, unknownKey()).follow(FollowSecurityLogDocument, variables);
    await expect(nobody.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const { latchkey } = await createManagedWorld(server);
    const live = latchkey.follow(FollowSecurityLogDocument, variables);
    await expect(live.next()).rejects.toMatchObject({ code: 'APP_NOT_FOUND' });
  });
});

test('following continues across a restart: no entry is lost or repeated', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-follow-'));
  const env = { DATA_DIR: directory };
  let server = await startTestServer({ env });
  const { apiKey, createApplication } = await createManagedWorld(server);
  const { id: applicationId } = await createApplication();
  /** As behind one address: always the currently running service. */
  const moving: typeof fetch = (url, init) => {
    return fetch(String(url).replace('http://service.test', server.baseUrl), init);
  };
  const latchkey = createManagementClient({ baseUrl: 'http://service.test', apiKey, fetch: moving });
  const log = latchkey.paginate(
    SecurityLogDocument,
    { applicationId, last: 200 },
    (data) => data.application.securityLog,
  );
  const came: string[] = [];
  const controller = new AbortController();
  const [created] = await listOf(log);
  const following = (async () => {
    const variables = { applicationId, after: created?.id };
    const options = { ...quick, signal: controller.signal };
    for await (const { id } of latchkey.follow(FollowSecurityLogDocument, variables, options)) came.push(id);
  })();
  try {
    for (let round = 0; round < 3; round += 1) {
      for (let change = 0; change < 5; change += 1) {
        const input = { id: applicationId, version: `${round}.${change}.0` };
        await latchkey.request(UpdateApplicationSettingsDocument, { input });
      }
      if (round === 1) await expect.poll(() => came.length, { timeout: 20_000 }).toBeGreaterThan(5);
      if (round < 2) {
        await server.close();
        server = await startTestServer({ env });
      }
    }
    await expect.poll(() => came.length, { timeout: 20_000 }).toBe(15);
    controller.abort();
    await following;
    expect(came).toEqual((await listOf(log)).slice(1).map(({ id }) => id));
  } finally {
    controller.abort();
    await server.close();
    await rm(directory, { recursive: true });
  }
});
