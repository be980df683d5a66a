import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DeveloperId } from '../../src/lib/ids.ts';
import { apiKeysOfDevelopers } from '../../src/services/api-key/lists.ts';
import { applicationsOfDevelopers } from '../../src/services/application/lists.ts';
import { bansOfApplications } from '../../src/services/ban/lists.ts';
import type { ServiceContext } from '../../src/services/context.ts';
import { usersOfApplications } from '../../src/services/end-user/lists.ts';
import { licensesOfApplications } from '../../src/services/license/lists.ts';
import type { ListSource } from '../../src/services/list-source.ts';
import { logOfDevelopers } from '../../src/services/security-log/lists.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createFullAccount, type FullAccount } from './full-account.ts';
import { noLimits } from './support.ts';

let server: TestServer;
let owner: FullAccount;
let ctx: ServiceContext;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  owner = await createFullAccount(server);
  await sql(server, 'UPDATE api_keys SET last_used_at = now() WHERE developer_id = $1', [owner.developer.id]);
  ctx = {
    env: server.deps.services,
    actor: {
      type: 'developer',
      developerId: owner.developer.id as DeveloperId,
      via: 'apiKey',
      apiKeyId: owner.ids.key,
    },
    client: { ip: null, limitKey: 'unknown', country: null },
    notes: { applicationId: null, code: null },
  };
});
afterAll(async () => {
  vi.restoreAllMocks();
  await server.close();
});

const slice = { size: 50, backward: false, fromId: null };
const read = (source: ListSource<object>, parentId: string, together: boolean) =>
  Promise.all([
    source.slices({
      ctx,
      parentIds: [parentId],
      slice,
      lookAhead: true,
      filter: {},
      columns: Object.keys(source.table.columns),
      together,
    }),
    source.counts({ ctx, parentIds: [parentId], filter: {}, together }),
  ]);

const ofDeveloper = () => owner.developer.id;
const ofApplication = () => owner.ids.application;
const lists: [string, ListSource<object>, () => string][] = [
  ['applications', applicationsOfDevelopers, ofDeveloper],
  ['API keys', apiKeysOfDevelopers, ofDeveloper],
  ['licenses', licensesOfApplications, ofApplication],
  ['end users', usersOfApplications, ofApplication],
  ['bans', bansOfApplications, ofApplication],
  ['entries of the log', logOfDevelopers, ofDeveloper],
];

describe('in one statement with another, a list has the values that it has in its own:', () => {
  test.each(lists)('%s', async (_what, source, parentId) => {
    const query = vi.spyOn(ctx.env.database.pool, 'query');
    const alone = await read(source, parentId(), false);
    expect(query).toHaveBeenCalledTimes(2);
    const together = await read(source, parentId(), true);
    expect(query).toHaveBeenCalledTimes(3);
    query.mockRestore();
    expect(together).toEqual(alone);
    const rows = [...alone[0].values()].flatMap(({ rows }) => rows);
    const seen = new Set(
      rows.flatMap((row) => Object.entries(row).flatMap(([name, value]) => (value === null ? [] : [name]))),
    );
    expect(rows.length).toBeGreaterThan(0);
    expect([...seen]).toEqual(expect.arrayContaining(Object.keys(source.table.fromJson)));
  });
});

test('instants have the same value near and far', async () => {
  const instants = [
    '2026-11-20 09:41:07.123+00',
    '2026-11-20 09:41:07+00',
    '0099-01-01 00:00:00+00',
    '12026-01-01 00:00:00.5+00',
  ];
  for (const instant of instants) {
    await sql(server, 'UPDATE licenses SET updated_at = $2 WHERE application_id = $1', [
      ofApplication(),
      instant,
    ]);
    expect(await read(licensesOfApplications, ofApplication(), true)).toEqual(
      await read(licensesOfApplications, ofApplication(), false),
    );
  }
});

test('a list that cannot be read fails with those that it was read with, and the next ones do not', async () => {
  const impossible = { ...slice, fromId: 'no id' };
  const more = {
    ctx,
    parentIds: [ofApplication()],
    lookAhead: false,
    filter: {},
    columns: ['id'],
    together: true,
  };
  const answers = await Promise.allSettled([
    licensesOfApplications.slices({ ...more, slice }),
    licensesOfApplications.slices({ ...more, slice: impossible }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(licensesOfApplications.slices({ ...more, slice })).resolves.toBeDefined();
});
