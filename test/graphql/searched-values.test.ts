import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
      name: 'key',
      keyHash: new Uint8Array(32),
      scopes: ['*'],
      applicationId: null,
      allowedCidrs: [],
      apiKeyId: owner.ids.key,
    },
    client: { ip: null, limitKey: 'unknown', country: null },
    notes: { applicationId: null, code: null },
  };
});
afterAll(() => server.close());

const read = async (source: ListSource<object>, parentId: string, filter: object) => {
  const slices = await source.slices({
    ctx,
    parentIds: [parentId],
    slice: { size: 50, backward: false, fromId: null },
    lookAhead: true,
    filter,
    columns: Object.keys(source.table.columns),
  });
  return slices.get(parentId)?.rows ?? [];
};

const ofDeveloper = () => owner.developer.id;
const ofApplication = () => owner.ids.application;
const created = { createdFrom: new Date(0) };
const lists: [string, ListSource<object>, () => string, filter: object][] = [
  ['applications', applicationsOfDevelopers, ofDeveloper, { all: true }],
  ['API keys', apiKeysOfDevelopers, ofDeveloper, { revoked: true }],
  [
    'licenses',
    licensesOfApplications,
    ofApplication,
    { statuses: ['active', 'expired', 'unused', 'banned'] },
  ],
  ['end users', usersOfApplications, ofApplication, { hasLicense: true }],
  ['bans', bansOfApplications, ofApplication, { banType: 'hwid' }],
  ['entries of the log', logOfDevelopers, ofDeveloper, created],
];

describe('a list that is searched has the values of the whole list:', () => {
  test.each(lists)('%s', async (_what, source, parentId, filter) => {
    const whole = await read(source, parentId(), {});
    const found = await read(source, parentId(), filter);
    const ids = new Set(found.map(({ id }) => id));
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(whole.filter(({ id }) => ids.has(id)));
    const seen = new Set(
      found.flatMap((row) => Object.entries(row).flatMap(([name, value]) => (value === null ? [] : [name]))),
    );
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
    const whole = await read(licensesOfApplications, ofApplication(), {});
    const statuses = ['active', 'expired', 'unused', 'banned', 'suspended'];
    expect(await read(licensesOfApplications, ofApplication(), { statuses })).toEqual(whole);
  }
});
