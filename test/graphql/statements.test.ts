import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { logStatements, type StatementLog } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import type { SeededApplication } from '../setup/world.ts';
import {
  insertApiKeys,
  insertApplications,
  insertBans,
  insertLicenses,
  insertLogEntries,
  insertUsers,
} from './rows.ts';
import { createGraphqlWorld, type GraphqlWorld } from './support.ts';

const unlimited = ['auth', 'appCreate', 'licenseCreate', 'blindCreate', 'accountSensitive'];

let server: TestServer;
let world: GraphqlWorld;
let application: SeededApplication;
let log: StatementLog;
/** A license with 55 users, bans and entries of the log. */
let popular: string;
beforeAll(async () => {
  server = await startTestServer({
    env: { RATE_LIMITS: unlimited.map((name) => `${name}=100000`).join() },
  });
  log = logStatements(server.deps.services.database.pool);
  world = await createGraphqlWorld(server);
  application = await world.createApplication();
  popular = (await insertLicenses(server, application.id, [{}]))[0]?.id ?? '';
  await fill(application.id, Array(55).fill(popular));
  const licenses = await insertLicenses(server, application.id, Array(60).fill({}));
  await fill(application.id, [...idsOf(licenses), ...idsOf(licenses)]);
  for (const { id } of await insertApplications(server, world.developer.id, 55)) {
    await fill(id, idsOf(await insertLicenses(server, id, [{}, {}])));
  }
  await insertApiKeys(server, world.developer.id, 55);
});
afterAll(() => server.close());

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** For each of these licenses a user, a ban and an entry of the log. */
async function fill(applicationId: string, licenseIds: readonly string[]): Promise<void> {
  const ofLicense = licenseIds.map((license_id) => ({ license_id }));
  const users = await insertUsers(server, applicationId, ofLicense);
  await insertBans(
    server,
    applicationId,
    licenseIds.map((source_license_id) => ({ source_license_id })),
  );
  await insertLogEntries(
    server,
    world.developer.id,
    users.map(({ id, license_id }) => ({ application_id: applicationId, license_id, user_id: id })),
  );
}

type Variables = Readonly<Record<string, unknown>>;

/** The statements of a document with pages of 1, of 5 and of 50, after one that warms what the service caches. */
async function statementsOf(
  document: string,
  variables: (first: number) => Variables | Promise<Variables>,
): Promise<number[]> {
  const counts: number[] = [];
  let largest = 0;
  for (const first of [1, 1, 5, 50]) {
    const asked = { first, ...(await variables(first)) };
    log.take();
    const answer = await world.graphql.ask(document, asked);
    counts.push(log.take().length);
    expect(answer.errors).toEqual([]);
    const nodes = JSON.stringify(answer.data).match(/"node":/g)?.length ?? 0;
    if (first > 1) expect(nodes, `nodes of a page of ${first}`).toBeGreaterThan(largest);
    largest = nodes;
  }
  return counts.slice(1);
}

/** So many, whatever the size of the page. */
const always = (statements: number) => [statements, statements, statements];

type Case = [what: string, statements: number, document: string];

/**
 * In each count: one statement that looks the cookie up, one that reads the root field, and for each list or relation of
 * the document one that reads its rows for all parents, and one that counts them if `totalCount` is selected.
 */
describe('a screen takes as many statements for pages of 50 as for pages of 1:', () => {
  test.each<Case>([
    [
      'licenses, with when each was last seen',
      4,
      'licenses(first: $first) { edges { node { lastSeenAt } } }',
    ],
    [
      'licenses, with their users, application, last log entry and bans',
      10,
      `licenses(first: $first) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node {
        keyPrefix status note noteCiphertextB64
        users(first: 3) { totalCount edges { node { username email } } }
        application { name status }
        securityLog(first: 1) { edges { node { event createdAt } } }
        bans(first: 3) { totalCount edges { node { value } } } } } }`,
    ],
    [
      'end users, with their license, its application and its bans',
      9,
      `users(first: $first) { totalCount pageInfo { hasNextPage } edges { node {
        username subscriptionTier application { name }
        license { keyPrefix status application { name }
          bans(first: 2) { totalCount edges { node { value } } } } } } }`,
    ],
    [
      'the log, with the license, the user, its license and the application of each entry',
      8,
      `securityLog(first: $first) { totalCount edges { node { event code metadata
        license { keyPrefix status } user { username license { keyPrefix } } application { name } } } }`,
    ],
    [
      'bans, with the license that caused each, and its users',
      7,
      `bans(first: $first) { totalCount edges { node { value application { name }
        sourceLicense { status users(first: 1) { edges { node { username } } } } } } }`,
    ],
    [
      'lists within lists, as deep as a document may go',
      6,
      `licenses(first: $first) { edges { node { users(first: 2) { edges { node {
        license { bans(first: 1) { edges { node { value } } } } } } } } } }`,
    ],
    [
      'a number without its list, beside another list',
      4,
      'licenses { totalCount } users(first: $first) { edges { node { id } } }',
    ],
  ])('%s', async (_what, statements, fields) => {
    const document = `query ($id: ID!, $first: Int) { application(id: $id) { ${fields} } }`;
    expect(await statementsOf(document, () => ({ id: application.id }))).toEqual(always(statements));
  });

  test.each<Case>([
    [
      'the account: its API keys, and its log with what each entry is about',
      10,
      `account { keyCreationMode vault { vaultSaltB64 }
        apiKeys(first: $first) { totalCount edges { node { name lastUsedAt revoked } } }
        securityLog(first: $first) { totalCount edges { node { event metadata
          application { name } license { status } user { username } } } } }`,
    ],
    [
      'all applications, with a list of everything in each',
      17,
      `applications(first: $first) { totalCount edges { node { name
        licenses(first: 2) { totalCount edges { node { status users(first: 2) { edges { node { username } } } } } }
        users(first: 2) { totalCount edges { node { username license { status } } } }
        bans(first: 2) { totalCount edges { node { value sourceLicense { status } } } }
        securityLog(first: 2) { totalCount edges { node { event license { status } user { username } } } }
      } } }`,
    ],
  ])('%s', async (_what, statements, fields) => {
    const document = `query ($first: Int) { me { ${fields} } }`;
    expect(await statementsOf(document, () => ({}))).toEqual(always(statements));
  });
});

const licenseFields = `application { name }
  users(first: $first) { totalCount edges { node { username license { status } } } }
  bans(first: $first) { totalCount edges { node { value application { name } } } }
  securityLog(first: $first, filter: { events: license_validated }) {
    totalCount edges { node { user { username } } } }`;
const licensePayload = `license { status ${licenseFields} }`;
const userPayload = `user { username application { name } license { status ${licenseFields} } }`;
const applicationPayload = `application { name
  licenses(first: $first) { totalCount edges { node { status users(first: 1) { edges { node { username } } } } } } }`;
const accountPayload = `account { licenseMask
  apiKeys(first: $first) { totalCount edges { node { name } } }
  securityLog(first: $first, filter: { events: license_validated }) {
    totalCount edges { node { application { name } } } } }`;

const uniqueName = () => `u${randomBytes(8).toString('hex')}`;

/** The popular license, active and bound to a device. */
async function boundLicense(): Promise<{ id: string }> {
  await sql(
    server,
    `UPDATE licenses SET status = 'active', activated_at = now(), hwid = 'device' WHERE id = $1`,
    [popular],
  );
  return { id: popular };
}

/** A new user of the popular license. */
async function newUser(): Promise<{ applicationId: string; userId: string }> {
  await boundLicense();
  const [user] = await insertUsers(server, application.id, [{ license_id: popular }]);
  return { applicationId: application.id, userId: user?.id ?? '' };
}

async function newBan(): Promise<{ applicationId: string; banId: string }> {
  const [ban] = await insertBans(server, application.id, [{}]);
  return { applicationId: application.id, banId: ban?.id ?? '' };
}

const newLicenses = { durationSeconds: 60, subscriptionTier: 1 };
const blindKey = () => ({
  licenseKeyHash: randomBytes(32).toString('hex'),
  licenseKeyPrefix: 'ABC',
  durationSeconds: 60,
});
const withPassword = (fields: Variables) => ({ ...fields, password: world.developer.password });

/**
 * One statement checks the credential again, and one records the event. On a server, another one tells the other instances
 * what changed.
 */
const ofTransaction = process.env.TEST_DATABASE_KIND === 'server' ? 3 : 2;

type Change = [
  mutation: string,
  statements: number,
  payload: string,
  input: (first: number) => Variables | Promise<Variables>,
];

describe('what a mutation answers takes as many statements for pages of 50 as for pages of 1:', () => {
  test.each<Change>([
    ['banLicense', 20, licensePayload, boundLicense],
    ['setLicenseTier', 19, licensePayload, async () => ({ ...(await boundLicense()), subscriptionTier: 2 })],
    ['resetLicenseHwid', 24, licensePayload, boundLicense],
    [
      'extendLicenses',
      13,
      `extended ${applicationPayload}`,
      () => ({ applicationId: application.id, seconds: 60 }),
    ],
    [
      'createLicenses',
      12,
      `keys { licenseKey } ${applicationPayload}`,
      (amount) => ({ applicationId: application.id, amount, ...newLicenses }),
    ],
    [
      'createBlindLicenses',
      13,
      `keys { id } ${applicationPayload}`,
      (amount) => ({ applicationId: application.id, keys: Array.from({ length: amount }, blindKey) }),
    ],
    [
      'updateApplicationSettings',
      11,
      applicationPayload,
      () => ({ id: application.id, requireLicenseToRegister: false }),
    ],
    ['resetEndUserHwid', 29, userPayload, newUser],
    ['deleteEndUser', 14, applicationPayload, newUser],
    ['deleteBan', 12, applicationPayload, newBan],
    ['setLicenseMask', 12, accountPayload, () => ({ mask: null })],
    ['setKeyCreationMode', 13, accountPayload, () => withPassword({ mode: 'default' })],
    [
      'setVault',
      14,
      accountPayload,
      () => withPassword({ vaultSaltB64: 'A'.repeat(24), vaultCheckB64: 'A'.repeat(24) }),
    ],
    ['updateProfile', 13, `developer { name ${accountPayload} }`, () => withPassword({ name: 'Ada' })],
  ])('%s', async (mutation, statements, payload, input) => {
    const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input`;
    const document = `mutation ($input: ${type}!, $first: Int) { ${mutation}(input: $input) { ${payload} } }`;
    const counts = await statementsOf(document, async (first) => ({ input: await input(first) }));
    expect(counts).toEqual(always(statements + ofTransaction));
  });

  test('createEndUser', async () => {
    const document = `mutation ($input: CreateEndUserInput!, $first: Int) {
      createEndUser(input: $input) { ${userPayload} } }`;
    const counts = await statementsOf(document, async (amount) => {
      const { id, licenseKey } = await application.mintOne();
      await fill(application.id, Array(amount).fill(id));
      const user = { username: uniqueName(), password: 'a user password', licenseKey };
      return { input: { applicationId: application.id, ...user } };
    });
    expect(counts).toEqual(always(29 + ofTransaction));
  });
});
