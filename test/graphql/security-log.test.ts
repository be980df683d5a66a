import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ask } from '../setup/end-users.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import {
  CreateApiKeyDocument,
  DeleteApplicationDocument,
  DeleteEndUserDocument,
  DeleteLicenseDocument,
  SecurityLogDocument,
  SecurityLogOfAccountDocument,
  SecurityLogOfLicenseDocument,
  SecurityLogRelationsDocument,
} from './generated/graphql.ts';
import { createGraphqlWorld, noLimits, payloadOf } from './support.ts';

const server = useServer({ env: { ...noLimits, COUNTRY_HEADER: 'CF-IPCountry' } });
const world = forTest(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

const nodesOf = <Node>({ edges }: { edges: readonly { node: Node }[] }) => edges.map(({ node }) => node);
const log = async () => {
  await server.deps.services.securityLog.flush();
  const answer = await world.graphql.request(SecurityLogDocument, { applicationId: application.id });
  return nodesOf(payloadOf(answer, 'application').securityLog);
};
const accountLog = async () =>
  nodesOf(payloadOf(await world.graphql.request(SecurityLogOfAccountDocument), 'me').account.securityLog);
const relations = async () => {
  await server.deps.services.securityLog.flush();
  const answer = await world.graphql.request(SecurityLogRelationsDocument, { applicationId: application.id });
  return nodesOf(payloadOf(answer, 'application').securityLog);
};

/** An end user who registered with a license from a device in Germany. */
async function registered() {
  const license = await application.mintOne();
  const client = world.client.with({ headers: { 'CF-IPCountry': 'DE' } });
  const members = {
    username: 'grace',
    password: 'a user password',
    licenseKey: license.licenseKey,
    hwid: 'device',
  };
  const answer = await ask(server, application, 'register', members, { client });
  const { user } = z.object({ user: z.object({ id: z.string() }) }).parse(answer);
  return { license, userId: user.id };
}

describe('the log of an application', () => {
  test('is REST’s, entry for entry', async () => {
    await registered();
    const listed = await log();
    const rest = await world.client.get(`/api/v1/apps/${application.id}/logs`);
    expect(rest.body).toEqual({ success: true, logs: listed, nextCursor: null });
    expect(listed.map(({ event }) => event)).toEqual([
      'user_registered',
      'licenses_created',
      'application_created',
    ]);
    expect(listed[0]).toMatchObject({ code: 'OK', country: 'DE', hwid: 'device', ip: world.client.ip });
    expect(listed[1]).toMatchObject({ code: null, licenseId: null, metadata: { amount: 1 } });
  });

  test('leads to the application, license and user of each entry', async () => {
    const { license, userId } = await registered();
    const owner = { id: application.id, name: 'Photo Lab' };
    expect(await relations()).toMatchObject([
      {
        event: 'user_registered',
        application: owner,
        license: { id: license.id, status: 'active' },
        user: { id: userId, username: 'grace' },
      },
      { event: 'licenses_created', application: owner, license: null, user: null },
      { event: 'application_created', application: owner, license: null, user: null },
    ]);
  });

  test('keeps the ids of a license and a user that are gone, and leads to neither', async () => {
    const { license, userId } = await registered();
    const user = { applicationId: application.id, userId };
    payloadOf(await world.graphql.request(DeleteEndUserDocument, { input: user }), 'deleteEndUser');
    payloadOf(
      await world.graphql.request(DeleteLicenseDocument, { input: { id: license.id } }),
      'deleteLicense',
    );
    const entries = await relations();
    expect(entries.map(({ event, licenseId, userId }) => ({ event, licenseId, userId })).slice(0, 3)).toEqual(
      [
        { event: 'license_deleted', licenseId: license.id, userId: null },
        { event: 'user_deleted', licenseId: license.id, userId },
        { event: 'user_registered', licenseId: license.id, userId },
      ],
    );
    for (const entry of entries) expect(entry).toMatchObject({ license: null, user: null });
  });

  test('says nothing of a stranger’s license beside its id', async () => {
    const stranger = await createGraphqlWorld(server);
    const foreign = await (await stranger.createApplication()).mintOne();
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: foreign.licenseKey });
    const [entry] = await relations();
    expect(entry).toMatchObject({ event: 'license_validated', license: null });
    const foreignLog = await stranger.graphql.request(SecurityLogOfLicenseDocument, { id: foreign.id });
    expect(nodesOf(payloadOf(foreignLog, 'license').securityLog)).toEqual([]);
  });
});

describe('the log of a license', () => {
  test('has what is about it and nothing else', async () => {
    const { license } = await registered();
    const other = await application.mintOne();
    const session = await openSession(server, application);
    for (const { licenseKey } of [license, other]) await session.ask(validatePath, { licenseKey });
    await server.deps.services.securityLog.flush();
    const answer = await world.graphql.request(SecurityLogOfLicenseDocument, { id: license.id });
    const entries = nodesOf(payloadOf(answer, 'license').securityLog);
    expect(entries.map(({ event }) => event)).toEqual(['license_validated', 'user_registered']);
    expect(entries).toEqual((await log()).filter(({ licenseId }) => licenseId === license.id));
  });
});

describe('the log of the account', () => {
  test('has what is about the account and all of its applications, newest first', async () => {
    await world.createApplication();
    payloadOf(await world.graphql.request(CreateApiKeyDocument, { input: { name: 'ci' } }), 'createApiKey');
    const entries = await accountLog();
    expect(entries.map(({ event }) => event)).toEqual([
      'api_key_created',
      'application_created',
      'application_created',
      'developer_registered',
    ]);
    expect(entries.map(({ applicationId }) => applicationId === null)).toEqual([true, false, false, true]);
    expect(entries.map(({ id }) => id)).toEqual(
      entries
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    );
  });

  test('loses what was about a deleted application, but not its deletion', async () => {
    const input = { id: application.id };
    payloadOf(await world.graphql.request(DeleteApplicationDocument, { input }), 'deleteApplication');
    expect((await accountLog()).map(({ event, applicationId }) => ({ event, applicationId }))).toEqual([
      { event: 'application_deleted', applicationId: null },
      { event: 'developer_registered', applicationId: null },
    ]);
  });
});
