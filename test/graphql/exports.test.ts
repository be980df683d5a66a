import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ask } from '../setup/end-users.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import type { SeededApplication } from '../setup/world.ts';
import { AccountExportDocument, EndUserExportDocument } from './generated/graphql.ts';
import {
  createApiKey,
  createGraphqlWorld,
  expectRefused,
  type GraphqlWorld,
  nobodysId,
  noLimits,
  payloadOf,
  visitor,
} from './support.ts';

let server: TestServer;
let world: GraphqlWorld;
let application: SeededApplication;
const password = 'a user password';
/** What no export may hold. */
let secrets: string[];
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
});
afterAll(() => server.close());
beforeEach(async () => {
  world = await createGraphqlWorld(server);
  application = await world.createApplication();
  const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600, note: 'for Bob' });
  const members = { username: 'grace', password, licenseKey, hwid: 'device' };
  const { sessionToken } = await ask(server, application, 'register', members);
  const { apiKey } = await createApiKey(world.client);
  await world.client.post(`/api/v1/licenses/${id}/ban`, { scope: 'hwid' });
  await server.deps.services.securityLog.flush();
  secrets = [licenseKey, password, world.developer.password, apiKey, String(sessionToken)];
});

const exported = z.looseObject({ exportedAt: z.string(), securityLog: z.array(z.unknown()) });
const restExport = async (path: string) => {
  const answer = await world.client.get(path);
  expect(answer.status).toBe(200);
  return z.object({ export: exported }).parse(answer.body).export;
};

describe('accountExport', () => {
  const readExport = async () =>
    exported.parse(payloadOf(await world.graphql.request(AccountExportDocument), 'accountExport'));

  test('equals that of REST, and is logged each time', async () => {
    server.clock.hold();
    try {
      const { securityLog, ...rest } = await restExport('/api/v1/account/export');
      const mine = await readExport();
      const {
        securityLog: [note, ...log],
        ...members
      } = mine;
      expect(members).toEqual(rest);
      expect(log).toEqual(securityLog);
      expect(note).toMatchObject({ event: 'account_exported', applicationId: null });
      expect((await readExport()).securityLog).toHaveLength(mine.securityLog.length + 1);
    } finally {
      server.clock.release();
    }
  });

  test('contains no key, password or token', async () => {
    const text = JSON.stringify(await readExport());
    expect(text).toContain('for Bob');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test('requires a login', async () => {
    const answer = await visitor(server).request(AccountExportDocument);
    expectRefused(answer, 'UNAUTHENTICATED');
    expect(answer.data).toEqual({ accountExport: null });
  });
});

describe('endUserExport', () => {
  const read = (applicationId: string) => world.graphql.request(EndUserExportDocument, { applicationId });

  test('equals that of REST', async () => {
    server.clock.hold();
    try {
      const rest = await restExport(`/api/v1/apps/${application.id}/users/export`);
      const mine = exported.parse(payloadOf(await read(application.id), 'endUserExport'));
      expect(mine).toEqual(rest);
      expect(mine).toMatchObject({ users: [{ username: 'grace', lastHwid: 'device' }] });
      for (const secret of secrets) expect(JSON.stringify(mine)).not.toContain(secret);
    } finally {
      server.clock.release();
    }
  });

  test('that is too large is refused with the REST route to use instead', {
    tags: 'slow',
  }, async () => {
    await sql(
      server,
      `INSERT INTO end_users (id, application_id, username, password_hash)
       SELECT gen_random_uuid(), $1, 'user-' || number, '$argon2id$none' FROM generate_series(1, 20000) AS number`,
      [application.id],
    );
    const answer = await read(application.id);
    const place = `GET /api/v1/apps/${application.id}/users/export`;
    const message = expect.stringContaining(place);
    expect(answer.errors).toMatchObject([
      { message, extensions: { code: 'VALIDATION_FAILED', issues: [{ path: [], message }] } },
    ]);
    expect(answer.data).toEqual({ endUserExport: null });
  });

  test.each([nobodysId, 'no-uuid', '\0'])('returns APP_NOT_FOUND for %j', async (id) => {
    const answer = await read(id);
    expectRefused(answer, 'APP_NOT_FOUND');
    expect(answer.data).toEqual({ endUserExport: null });
  });
});
