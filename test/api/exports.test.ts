import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, noLimits } from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));
const application = forTest(() => world.createApplication());

/** SQL of a new random id. */
const someId = `overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid`;
const accountExport = '/api/v1/account/export';
const usersExport = () => `/api/v1/apps/${application.id}/users/export`;

const addApplications = (count: number) =>
  sql(
    server,
    `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted, response_messages)
     SELECT ${someId}, $1, 'App ' || number, decode(repeat('00', 32), 'hex'), decode(repeat('00', 60), 'hex'),
       (SELECT jsonb_object_agg(key, repeat('語', 500)) FROM unnest(ARRAY['OK', 'BANNED', 'EXPIRED', 'APP_DISABLED',
         'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED', 'LICENSE_NOT_FOUND', 'HWID_MISMATCH', 'REGISTER_DISABLED',
         'LICENSE_REQUIRED', 'INVALID_CREDENTIALS', 'USERNAME_TAKEN', 'USER_NOT_FOUND', 'TIER_NOT_HIGHER']) AS key)
     FROM generate_series(1, $2::int) AS number`,
    [world.developer.id, count],
  );
const addUser = async (username: string, sessions: number) => {
  await sql(
    server,
    `WITH added AS (
       INSERT INTO end_users (id, application_id, username, password_hash) VALUES (${someId}, $1, $2, '$argon2id$none')
       RETURNING id
     )
     INSERT INTO end_user_sessions (id, end_user_id, token_hash, hwid, expires_at)
     SELECT ${someId}, added.id, sha256(gen_random_uuid()::text::bytea), 'device ' || number, now()
     FROM added, generate_series(1, $3::int) AS number`,
    [application.id, username, sessions],
  );
};
const read = async (path: string) => {
  const answer = await world.client.get(path);
  expect(answer.status).toBe(200);
  return z.object({ export: z.looseObject({}) }).parse(answer.body).export;
};

const session = z.strictObject({
  id: z.string(),
  ip: z.string().nullable(),
  hwid: z.string().nullable(),
  createdAt: z.string(),
  expiresAt: z.string(),
});

describe('an export is read from the database while it is sent', () => {
  /** The number of statements of an export whose reader disconnects after the first chunk. */
  async function statementsUntilLeft(path: string): Promise<string[]> {
    const statements = logStatements(server.deps.services.database.pool);
    const leaving = new AbortController();
    const response = await world.client.open('GET', path, undefined, leaving.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await reader?.read().catch(() => undefined);
    // Without the disconnect there would be many more statements. None came during this time.
    const seen: string[] = [];
    for (let idle = 0; idle < 20; idle += 1) {
      await setTimeout(10);
      const more = statements.take();
      if (more.length > 0) idle = 0;
      seen.push(...more);
    }
    return seen;
  }

  test('the account’s export reads applications in batches and stops when its reader disconnects', async () => {
    await addApplications(1_000);
    const statements = await statementsUntilLeft(accountExport);
    const pages = statements.filter((text) => /responseMessages|response_messages/.test(text));
    expect(pages.length).toBeGreaterThanOrEqual(1);
    expect(pages.filter((text) => !/limit/i.test(text))).toEqual([]);
    // A complete export takes ten batches and an empty one; the socket's buffer may have been filled ahead.
    expect(pages.length).toBeLessThan(9);
    expect(statements.some((text) => /FROM "public"\."licenses"/.test(text))).toBe(false);
  });

  test('the account’s export has all applications with their data', async () => {
    await addApplications(230);
    const { id } = await application.mintOne();
    const exported = await read(accountExport);
    expect(exported.applications).toHaveLength(231);
    expect(exported.licenses).toMatchObject([{ id }]);
  });

  test('all sessions of a user are included, newest first', async () => {
    await addUser('few', 3);
    await addUser('many', 250);
    await addUser('none', 0);
    await addUser('exactly-a-page', 100);
    const { users } = z
      .object({
        users: z.array(z.object({ username: z.string(), sessions: z.array(session) })),
      })
      .parse(await read(usersExport()));
    const counts = Object.fromEntries(users.map(({ username, sessions }) => [username, sessions.length]));
    expect(counts).toEqual({ few: 3, many: 250, none: 0, 'exactly-a-page': 100 });
    for (const { sessions } of users) {
      const ids = sessions.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(ids.toSorted().toReversed());
    }
  });

  test('sessions are read in batches if a user has many', async () => {
    await addUser('many', 2_000);
    const statements = await statementsUntilLeft(usersExport());
    const unbounded = statements.filter((text) => text.includes('end_user_sessions') && !/limit/i.test(text));
    expect(unbounded).toEqual([]);
  });
});

describe('over GraphQL', () => {
  const graphql = () => new GraphqlClient(world.client);
  const endUserExport = () =>
    graphql().ask('query ($id: ID!) { endUserExport(applicationId: $id) }', { id: application.id });
  const message = (path: string) => expect.stringContaining(`GET ${path}`);

  test('the sessions of users are the same, and count towards limits', { tags: 'slow' }, async () => {
    await addUser('many', 250);
    const { users } = await read(usersExport());
    const answer = await endUserExport();
    expect(answer.data).toMatchObject({ endUserExport: { users } });
    await addUser('very-many', 19_900);
    expect((await endUserExport()).errors).toMatchObject([
      { message: message(usersExport()), extensions: { code: 'VALIDATION_FAILED' } },
    ]);
  });

  test('an export of more than 32 MB is refused with the REST route to use instead', {
    tags: 'slow',
  }, async () => {
    await addApplications(1_500);
    expect((await graphql().ask('{ accountExport }')).errors).toMatchObject([
      { message: message(accountExport), extensions: { code: 'VALIDATION_FAILED' } },
    ]);
  });

  test('applications with long messages fill at most a few MB of a response', { tags: 'slow' }, async () => {
    const texts = 'edges { node { responseMessages { text } } }';
    const list = (index: number) => `a${index}: applications(first: 200) { ${texts} }`;
    const one = await graphql().ask(`{ me { ${list(0)} } }`);
    expect(one.codes).toEqual([]);
    const two = await graphql().ask(`{ me { ${list(0)} ${list(1)} } }`);
    expect(two.codes).toEqual(['QUERY_TOO_COMPLEX']);
    const full = 'edges { node { id name version status createdAt responseMessages { key text } } }';
    expect((await graphql().ask(`{ me { applications(first: 200) { ${full} } } }`)).codes).toEqual([]);
  });
});

describe('concurrent exports of one developer', () => {
  /** A running export that ends when told. */
  async function begin(path: string) {
    const leaving = new AbortController();
    const response = await world.client.open('GET', path, undefined, leaving.signal);
    return { status: response.status, end: () => leaving.abort(), response };
  }

  test('are limited to three of any kind; the next is refused until one has ended', async () => {
    await addApplications(2_500);
    const under = [await begin(accountExport), await begin(accountExport), await begin(accountExport)];
    expect(under.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { error } = expectFailure(await world.client.get(usersExport()), 429, 'TOO_MANY_EXPORTS');
    expect(error).toContain('3 exports of this account');
    const graphql = await new GraphqlClient(world.client).ask('{ accountExport }');
    expect(graphql.codes).toEqual(['TOO_MANY_EXPORTS']);
    // Another developer's exports are separate.
    const stranger = await createWorld(server);
    expect((await stranger.client.get(accountExport)).status).toBe(200);

    for (const { end } of under) end();
    await expect.poll(async () => (await world.client.get(usersExport())).status).toBe(200);
  });

  test('free their slot when they have ended, were refused, or sent no body', async () => {
    for (let round = 0; round < 5; round++) {
      expect((await world.client.get(usersExport())).status).toBe(200);
      expect((await world.client.get('/api/v1/apps/no-such-application/users/export')).status).toBe(404);
      expect((await world.client.send('HEAD', usersExport())).status).toBe(200);
    }
  });
});

describe('while an export is sent', () => {
  test.skipIf(process.env.TEST_DATABASE_KIND !== 'server')('no transaction stays open', async () => {
    await addApplications(2_500);
    const leaving = new AbortController();
    const response = await world.client.open('GET', accountExport, undefined, leaving.signal);
    await response.body?.getReader().read();
    const open = () =>
      sql(
        server,
        `SELECT state, query FROM pg_stat_activity
         WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()`,
      );
    // Transactions of other requests end quickly, while the export waits for its reader.
    await expect.poll(open).toEqual([]);
    leaving.abort();
  });
});
