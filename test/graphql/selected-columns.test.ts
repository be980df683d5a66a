import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { committed } from './documents.ts';
import { createFullAccount, type FullAccount } from './full-account.ts';
import { insertApplications } from './rows.ts';
import { noLimits } from './support.ts';

let server: TestServer;
let owner: FullAccount;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  owner = await createFullAccount(server);
  await fillEmptyColumns();
});
afterAll(() => server.close());

/** Gives a value to what furnishing leaves empty: a column that was not read would look the same. */
async function fillEmptyColumns(): Promise<void> {
  const vault = Buffer.alloc(32, 7).toString('base64');
  const [other] = await insertApplications(server, owner.developer.id, 1);
  const statements: [string, unknown[]][] = [
    [
      `UPDATE applications SET hwid_lock_enabled = NOT first.hwid_lock_enabled,
        registration_enabled = NOT first.registration_enabled,
        require_license_to_register = NOT first.require_license_to_register
        FROM applications AS first WHERE applications.id = $2 AND first.id = $1`,
      [owner.ids.application, other?.id],
    ],
    [
      `UPDATE developers SET license_mask = 'AB-XXXXXXXXXXXX', vault_salt_b64 = $2, vault_check_b64 = $2 WHERE id = $1`,
      [owner.developer.id, vault],
    ],
    [
      `UPDATE licenses SET note_ciphertext_b64 = $2 WHERE application_id = $1`,
      [owner.ids.application, vault],
    ],
    [
      `UPDATE licenses SET grace_seconds = 315360000, device_limit = 2, device_count = 3, self_service = 'key',
        move_count = 3, move_period_seconds = 3600, cooldown_seconds = 60, release_idle_after_seconds = 86400,
        lease_seconds = 7200, policy_id = id, entitlements = '{"export.pdf": true}', tags = '{reseller}',
        metadata = '{"client": {"channel": "beta"}, "private": {"order": 1001}}' WHERE id = $1`,
      [owner.licenses.expired.id],
    ],
    [
      `UPDATE policies SET key_mask = 'AB-XXXXXXXXXXXX', lease_seconds = 7200, release_idle_after_seconds = 86400,
        move_count = 3, move_period_seconds = 3600 WHERE application_id = $1`,
      [owner.ids.application],
    ],
    [
      `UPDATE webhooks SET application_id = $2, disabled_at = now(), disabled_reason = 'vendor', failing_since = now(),
        last_success_at = now(), previous_secret_until = now(), types = '{device.moved}' WHERE id = $1`,
      [owner.ids.webhook, owner.ids.application],
    ],
    [
      `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now()
        FROM webhooks WHERE webhooks.id = webhook_id AND developer_id = $1`,
      [owner.developer.id],
    ],
    [
      `UPDATE devices SET name = 'Laptop', platform = 'linux', country = 'NL'
        FROM licenses WHERE licenses.id = license_id AND application_id = $1`,
      [owner.ids.application],
    ],
    [
      `UPDATE licenses SET last_ip = '203.0.113.7', subscription_tier = 4 WHERE application_id = $1`,
      [owner.ids.application],
    ],
    [
      `UPDATE security_log SET license_id = $2, user_id = $3, ip = '203.0.113.7', country = 'NL', hwid = 'device', code = 'OK' WHERE application_id = $1`,
      [owner.ids.application, owner.ids.license, owner.ids.user],
    ],
    [`UPDATE api_keys SET last_used_at = now() WHERE developer_id = $1`, [owner.developer.id]],
    [
      `UPDATE account_sessions SET country = 'NL', user_agent = 'a browser' WHERE developer_id = $1`,
      [owner.developer.id],
    ],
  ];
  for (const [statement, values] of statements) await sql(server, statement, values);
}

/** A field and what to ask of it, where it has members. */
interface Member {
  readonly name: string;
  readonly selection: string;
}

/** What a type tells of its row: its scalars, and what its fields without arguments lead to, as far as their ids. */
function membersOf(type: GraphQLObjectType): Member[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const target = getNamedType(field.type);
    if (isLeafType(target)) return [{ name: field.name, selection: '' }];
    if (field.args.length > 0 || !('getFields' in target)) return [];
    const inner = Object.values(target.getFields()).filter(({ type }) => isLeafType(getNamedType(type)));
    const first = inner.find(({ name }) => name === 'id') ?? inner[0];
    return first === undefined ? [] : [{ name: field.name, selection: `{ ${first.name} }` }];
  });
}

type Where = readonly [way: string, before: string, after: string];

/** For each type that stands for a row of a table, the ways to it: `before` a selection of it, and `after`. */
const list = (field: string, filter = ''): [string, string] => [
  `${field}(first: 5 ${filter}) { edges { node {`,
  '} } }',
];
/** Entries that were there from the beginning: what a mutation here notes is about no end user. */
const log = list('securityLog', 'filter: { userId: "$user" }');
const within = (path: string, [before, after]: [string, string]): [string, string] => {
  const opened = path.split('{').length - path.split('}').length;
  return [`${path} ${before}`, `${after}${' }'.repeat(opened)}`];
};
const application = 'query { application(id: "$application") {';
const mutation = (field: string, input: string, payload: string): [string, string] => [
  `mutation { ${field}(input: ${input}) { ${payload} {`,
  '} } }',
];
const toRow = (path: string): [string, string] => within(path, ['', '']);

const ways: Readonly<Record<string, readonly Where[]>> = {
  Application: [
    ['the root', ...toRow('query { application(id: "$application") {')],
    ['a list', ...within('query { me {', list('applications'))],
    ['a relation', ...toRow('query { license(id: "$license") { application {')],
    [
      'a mutation',
      ...mutation(
        'updateApplicationSettings',
        '{ id: "$application", hwidLockEnabled: true }',
        'application',
      ),
    ],
  ],
  License: [
    ['the root', ...toRow('query { license(id: "$license") {')],
    ['a list', ...within(application, list('licenses'))],
    ['a relation', ...toRow('query { endUser(id: "$user") { license {')],
    ['a mutation', ...mutation('setLicenseTier', '{ id: "$license", subscriptionTier: 4 }', 'license')],
  ],
  EndUser: [
    ['the root', ...toRow('query { endUser(id: "$user") {')],
    ['a list', ...within(application, list('users'))],
    ['a list of a license', ...within('query { license(id: "$license") {', list('users'))],
    [
      'a relation',
      ...toRow(`${application} securityLog(first: 3, filter: { userId: "$user" }) { edges { node { user {`),
    ],
  ],
  Ban: [
    ['a list', ...within(application, list('bans'))],
    ['a list of a license', ...within('query { license(id: "$banned") {', list('bans'))],
  ],
  ApiKey: [
    ['a list', ...within('query { me { account {', list('apiKeys'))],
    ['a mutation', ...mutation('revokeApiKey', '{ id: "$key" }', 'key')],
  ],
  AccountSession: [['a list', ...within('query { me { account {', list('sessions'))]],
  Account: [
    ['a relation', ...toRow('query { me { account {')],
    ['a mutation', ...mutation('setLicenseMask', '{ mask: "AB-XXXXXXXXXXXX" }', 'account')],
  ],
  Device: [['a list of a license', ...within('query { license(id: "$license") {', list('devices'))]],
  Policy: [
    ['a list', ...within(application, list('policies'))],
    ['a relation', ...toRow('query { license(id: "$license") { policy {')],
  ],
  Webhook: [
    ['the root', ...toRow('query { webhook(id: "$webhook") {')],
    ['a list', ...within('query { me { account {', list('webhooks'))],
    ['a mutation', ...mutation('updateWebhook', '{ id: "$webhook", description: "Shop" }', 'webhook')],
  ],
  WebhookDelivery: [
    ['the root', ...toRow('query { node(id: "$delivery") { ... on WebhookDelivery {')],
    ['a list', ...within('query { webhook(id: "$webhook") {', list('deliveries'))],
  ],
  SecurityLogEntry: [
    ['a list', ...within(application, log)],
    ['a list of a license', ...within('query { license(id: "$license") {', log)],
    ['a list of an account', ...within('query { me { account {', log)],
  ],
};

/** Every row that an answer has of a selection: objects that hold a member of it. */
function rowsWith(value: unknown, key: string): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.entries(value);
  const inner = own.flatMap(([name, each]) => (name === key ? [] : rowsWith(each, key)));
  return key in value ? [Object.fromEntries(own), ...inner] : inner;
}

async function ask(way: Where, selection: string): Promise<Record<string, unknown>[]> {
  const [, before, after] = way;
  const [document, fragment = ''] = selection.split('|');
  const ids = { ...owner.ids, banned: owner.licenses.banned.id };
  const filled = Object.entries(ids).reduce(
    (text, [name, id]) => text.replaceAll(`"$${name}"`, `"${id}"`),
    `${before} theRow: __typename ${document} ${after} ${fragment}`,
  );
  const answer = await owner.graphql.ask(filled);
  expect(answer.errors, filled).toEqual([]);
  const rows = rowsWith(answer.data, 'theRow').map(({ theRow: _, ...row }) => row);
  expect(rows.length, filled).toBeGreaterThan(0);
  return rows;
}

/** Types whose rows are read by the columns that are asked for. A new one needs a way to it. */
const types = Object.keys(ways);

test('every type that a list or a relation leads to has its ways here', () => {
  const nodes = Object.values(committed.getTypeMap()).flatMap((type) =>
    type.name.endsWith('ConnectionEdge') && 'getFields' in type
      ? [String(getNamedType(type.getFields().node?.type))]
      : [],
  );
  expect([...new Set([...nodes, 'Account'])].sort()).toEqual([...types].sort());
});

const title = '$name from $from tells the same of a field, whatever is asked beside it';
const cases = types.map((name) => (ways[name] ?? []).map((way) => ({ name, from: way[0], way })));
test.each(cases.flatMap((of) => of.slice(0, 1)))(title, tellsTheSame);
test.each(cases.flatMap((of) => of.slice(1)))(title, { tags: 'slow' }, tellsTheSame);

async function tellsTheSame({
  name,
  way,
}: {
  readonly name: keyof typeof ways;
  readonly way: Where;
}): Promise<void> {
  const type = committed.getType(name);
  if (type === undefined || !('isTypeOf' in type)) throw new Error(`There is no type ${name}`);
  const members = membersOf(type);
  const text = ({ name: field, selection }: Member) => `${field} ${selection}`;
  const whole = await ask(way, members.map(text).join(' '));
  // A mutation sets when its row was changed.
  const compared = members.filter(({ name: field }) => !(way[0] === 'a mutation' && field === 'updatedAt'));
  for (const [index, member] of compared.entries()) {
    const other = compared[(index + 1) % compared.length] ?? member;
    const expected = whole.map((row) => ({ [member.name]: row[member.name] }));
    expect(await ask(way, text(member)), member.name).toEqual(expected);
    expect(await ask(way, `alias: ${text(member)}`), member.name).toEqual(
      whole.map((row) => ({ alias: row[member.name] })),
    );
    expect(
      await ask(way, `...Own | fragment Own on ${name} { ... { ${text(member)} } }`),
      member.name,
    ).toEqual(expected);
    expect(await ask(way, `${text(member)} ${text(other)}`), member.name).toEqual(
      whole.map((row) => ({ [member.name]: row[member.name], [other.name]: row[other.name] })),
    );
  }
}

test('each field has a value in some row, and true as well as false, so that a column which is not read is missed', async () => {
  for (const name of types) {
    const type = committed.getType(name);
    if (type === undefined || !('isTypeOf' in type)) throw new Error(`There is no type ${name}`);
    const members = membersOf(type);
    const found = await Promise.all(
      (ways[name] ?? []).map((way) =>
        ask(way, members.map(({ name: field, selection }) => `${field} ${selection}`).join(' ')),
      ),
    );
    const empty = members.filter(({ name: field }) => {
      const values = new Set(found.flat().map((row) => row[field]));
      const isBoolean = values.has(true) || values.has(false);
      return isBoolean ? values.size < 2 : values.size === 1 && values.has(null);
    });
    expect(empty, name).toEqual([]);
  }
});
