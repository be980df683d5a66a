import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { schema } from '../../src/graphql/schema.ts';
import { randomIp } from '../setup/api-client.ts';
import type { GraphqlAnswer } from '../setup/graphql-client.ts';
import { startTestServer } from '../setup/server.ts';
import { useServer } from '../setup/use-world.ts';
import { rootFields } from './documents.ts';
import { CreateLicensesDocument, LoginDocument, MeDocument, RegisterDocument } from './generated/graphql.ts';
import { pairs } from './pairs.ts';
import { createGraphqlWorld, expectRefused, visitor } from './support.ts';

const server = useServer();

const input = { email: 'nobody@example.com', password: 'not the password' };

/** One document with so many logins. */
const logins = (amount: number) =>
  `mutation ($input: LoginInput!) {
    ${Array.from({ length: amount }, (_, index) => `login${index}: login(input: $input) { developer { id } }`).join('\n')}
  }`;

/** How often each code came. */
function tally(answer: GraphqlAnswer<unknown>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of answer.codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

describe('the auth bucket', () => {
  test('gives one point to every aliased login of a document', async () => {
    const answer = await visitor(server).ask(logins(25), { input });
    expect(tally(answer)).toEqual({ INVALID_CREDENTIALS: 20, RATE_LIMITED: 5 });
    expect(answer.errors.slice(20).map((error) => error.path)).toEqual(
      [20, 21, 22, 23, 24].map((index) => [`login${index}`]),
    );
  });

  test('is one for GraphQL and REST, and for register and login', async () => {
    const client = visitor(server);
    const codes: string[] = [];
    for (let round = 0; round < 4; round++) {
      codes.push(...(await client.ask(logins(3), { input })).codes);
      const rest = await client.api.post('/api/v1/auth/login', input);
      codes.push(z.object({ code: z.string() }).parse(rest.body).code);
      codes.push(
        ...(await client.request(RegisterDocument, { input: { ...input, email: '', name: '' } })).codes,
      );
    }
    expect(codes).toHaveLength(20);
    expect(codes).not.toContain('RATE_LIMITED');
    expect((await client.request(LoginDocument, { input })).codes).toEqual(['RATE_LIMITED']);
    expect((await client.api.post('/api/v1/auth/login', input)).status).toBe(429);
    expect((await client.request(RegisterDocument, { input: { ...input, name: 'Ada' } })).codes).toEqual([
      'RATE_LIMITED',
    ]);
  });

  test('is counted by address', async () => {
    const client = visitor(server);
    await client.ask(logins(20), { input });
    expect((await client.request(LoginDocument, { input })).codes).toEqual(['RATE_LIMITED']);
    const elsewhere = client.with({ ip: randomIp() });
    expect((await elsewhere.request(LoginDocument, { input })).codes).toEqual(['INVALID_CREDENTIALS']);
  });

  test('is not drawn on by a document that is not executed, nor by other fields', async () => {
    const client = visitor(server);
    await client.ask(logins(30), { input: { email: 5 } });
    await client.ask(`${logins(30)} garbage`, { input });
    for (let index = 0; index < 3; index++) await client.request(MeDocument);
    expect(tally(await client.ask(logins(21), { input }))).toEqual({
      INVALID_CREDENTIALS: 20,
      RATE_LIMITED: 1,
    });
  });

  test('draws for fields behind fragments and directives as they are executed', async () => {
    const document = `mutation ($input: LoginInput!) {
      ...Logins
      ... on Mutation { c: login(input: $input) { developer { id } } }
      d: login(input: $input) @skip(if: true) { developer { id } }
    }
    fragment Logins on Mutation {
      a: login(input: $input) { developer { id } }
      b: login(input: $input) { developer { id } }
    }`;
    const client = visitor(server);
    expect(tally(await client.ask(document, { input }))).toEqual({ INVALID_CREDENTIALS: 3 });
    expect(tally(await client.ask(logins(18), { input }))).toEqual({
      INVALID_CREDENTIALS: 17,
      RATE_LIMITED: 1,
    });
  });

  test('says when the next request is welcome, in the message and in the header fields', async () => {
    const client = visitor(server);
    const answer = await client.ask(logins(21), { input });
    expect(answer.status).toBe(200);
    expect(answer.errors[20]?.extensions).toEqual({ code: 'RATE_LIMITED' });
    const retryAfter = z.coerce.number().int().min(1).max(60).parse(answer.headers.get('retry-after'));
    expect(answer.errors[20]?.message).toContain(`${retryAfter} s`);
    expect(answer.headers.get('ratelimit-limit')).toBe('20');
    expect(answer.headers.get('ratelimit-remaining')).toBe('0');
    expect(answer.headers.get('ratelimit-reset')).toBe(String(retryAfter));
  });
});

describe('the licenseCreate bucket', () => {
  test('is one for GraphQL and REST, and mints nothing beyond the limit', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id: applicationId } = await createApplication();
    const mint = { applicationId, amount: 1, durationSeconds: 0 };
    const aliases = Array.from(
      { length: 28 },
      (_, index) => `m${index}: createLicenses(input: $input) { warning }`,
    );
    const most = await graphql.ask(`mutation ($input: CreateLicensesInput!) { ${aliases.join('\n')} }`, {
      input: mint,
    });
    expect(most.errors).toEqual([]);
    expect((await graphql.api.post('/api/v1/licenses/create', mint)).status).toBe(201);
    expect((await graphql.request(CreateLicensesDocument, { input: mint })).errors).toEqual([]);
    const over = await graphql.request(CreateLicensesDocument, { input: mint });
    expectRefused(over, 'RATE_LIMITED');
    expect(over.data).toEqual({ createLicenses: null });
    expect((await graphql.api.post('/api/v1/licenses/create', mint)).status).toBe(429);
    expect(await server.deps.services.database.prisma.license.count({ where: { applicationId } })).toBe(30);
  });
});

describe('the appCreate bucket', { tags: 'slow' }, () => {
  test('is one for GraphQL and REST, and makes nothing beyond the limit', async () => {
    const { graphql, developer } = await createGraphqlWorld(server);
    const make = 'createApplication(input: { name: "Photo Lab" }) { sdkHint { appId } }';
    const many = (amount: number) =>
      `mutation { ${Array.from({ length: amount }, (_, index) => `m${index}: ${make}`).join('\n')} }`;
    for (const amount of [50, 50, 50, 50, 50, 49])
      expect((await graphql.ask(many(amount))).errors).toEqual([]);
    expect((await graphql.api.post('/api/v1/apps/create', { name: 'Photo Lab' })).status).toBe(201);
    expectRefused(await graphql.ask(many(1)), 'RATE_LIMITED');
    expect((await graphql.api.post('/api/v1/apps/create', { name: 'Photo Lab' })).status).toBe(429);
    const own = { developerId: developer.id };
    expect(await server.deps.services.database.prisma.application.count({ where: own })).toBe(300);
  });
});

describe('the blindCreate bucket', () => {
  test('is one for GraphQL and REST, and stores nothing beyond the limit', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id: applicationId } = await createApplication();
    const blind = () => ({
      applicationId,
      keys: [
        {
          licenseKeyHash: randomBytes(32).toString('hex'),
          licenseKeyPrefix: 'BLIND',
          durationSeconds: 0,
        },
      ],
    });
    const aliases = Array.from({ length: 28 }, (_, index) => index);
    const document = `mutation (${aliases.map((index) => `$i${index}: CreateBlindLicensesInput!`).join(' ')}) {
      ${aliases.map((index) => `m${index}: createBlindLicenses(input: $i${index}) { keys { id } }`).join('\n')}
    }`;
    const variables = Object.fromEntries(aliases.map((index) => [`i${index}`, blind()]));
    expect((await graphql.ask(document, variables)).errors).toEqual([]);
    expect((await graphql.api.post('/api/v1/licenses/create-blind', blind())).status).toBe(201);
    const one =
      'mutation ($input: CreateBlindLicensesInput!) { createBlindLicenses(input: $input) { keys { id } } }';
    expect((await graphql.ask(one, { input: blind() })).errors).toEqual([]);
    const over = await graphql.ask(one, { input: blind() });
    expectRefused(over, 'RATE_LIMITED');
    expect(over.data).toEqual({ createBlindLicenses: null });
    expect((await graphql.api.post('/api/v1/licenses/create-blind', blind())).status).toBe(429);
    expect(await server.deps.services.database.prisma.license.count({ where: { applicationId } })).toBe(30);
    // Keys that the service makes have a bucket of their own.
    const mint = { applicationId, amount: 1, durationSeconds: 0 };
    expect((await graphql.request(CreateLicensesDocument, { input: mint })).errors).toEqual([]);
  });
});

describe('the accountSensitive bucket', () => {
  const wrong = 'not the password';
  const vault = { vaultSaltB64: 'A'.repeat(24), vaultCheckB64: 'A'.repeat(24) };
  /** Each field on it, with the route of REST that draws on it too. A wrong password costs a point as well. */
  const operations = [
    {
      field: 'setKeyCreationMode(input: { mode: private, password: "not the password" }) { account { id } }',
      route: ['POST', '/account/mode', { mode: 'private', password: wrong }],
    },
    {
      field: `setVault(input: { vaultSaltB64: "${vault.vaultSaltB64}", vaultCheckB64: "${vault.vaultCheckB64}",
        password: "not the password" }) { account { id } }`,
      route: ['POST', '/account/vault', { ...vault, password: wrong }],
    },
    {
      field: 'updateProfile(input: { name: "Grace", password: "not the password" }) { developer { id } }',
      route: ['PATCH', '/account/profile', { name: 'Grace', password: wrong }],
    },
    {
      field:
        'deleteAccount(input: { confirm: "DELETE", password: "not the password" }) { deletedDeveloperId }',
      route: ['POST', '/account/delete', { confirm: 'DELETE', password: wrong }],
    },
    { field: 'accountExport', route: ['GET', '/account/export', undefined] },
  ] as const;
  const documentOf = (field: string, amount: number) => {
    const aliases = Array.from({ length: amount }, (_, index) => `a${index}: ${field}`);
    return `${field === 'accountExport' ? 'query' : 'mutation'} { ${aliases.join('\n')} }`;
  };

  test('is one for its five fields and the five routes of REST: twenty, and no more', async () => {
    const { graphql, client, developer } = await createGraphqlWorld(server);
    for (const { field, route } of operations) {
      const [method, path, body] = route;
      for (const code of (await graphql.ask(documentOf(field, 3))).codes)
        expect(code).toBe('INVALID_CREDENTIALS');
      expect((await client.send(method, `/api/v1${path}`, body)).status).toBe(body === undefined ? 200 : 401);
    }
    for (const { field, route } of operations) {
      const [method, path, body] = route;
      expectRefused(await graphql.ask(documentOf(field, 1)), 'RATE_LIMITED');
      expect((await client.send(method, `/api/v1${path}`, body)).status).toBe(429);
    }
    // The right password makes no difference, and what is not limited goes on.
    const right = `mutation { setKeyCreationMode(input: { mode: private, password: "${developer.password}" }) { account { id } } }`;
    expectRefused(await graphql.ask(right), 'RATE_LIMITED');
    expect((await graphql.ask('{ me { keyCreationMode } }')).data).toEqual({
      me: { keyCreationMode: 'default' },
    });
  });

  test.each(operations)('gives one point to every alias: $field', async ({ field }) => {
    const { graphql } = await createGraphqlWorld(server);
    // Three exports of an account are made at once.
    const amount = field === 'accountExport' ? 3 : 21;
    const answers = [];
    for (let sent = 0; sent < 21; sent += amount) answers.push(await graphql.ask(documentOf(field, amount)));
    const codes = answers.flatMap((answer) => answer.codes);
    const limited = codes.filter((code) => code === 'RATE_LIMITED');
    expect(limited).toHaveLength(answers.length * amount - 20);
    expect(new Set(codes)).toEqual(
      new Set(field === 'accountExport' ? ['RATE_LIMITED'] : ['INVALID_CREDENTIALS', 'RATE_LIMITED']),
    );
  });
});

test('the fields that are limited are those whose routes are, on the same buckets', () => {
  const operations = z
    .object({
      paths: z.record(
        z.string(),
        z.record(
          z.string(),
          z.looseObject({
            operationId: z.string(),
            'x-rate-limit': z.object({ name: z.string(), requests: z.int() }).optional(),
          }),
        ),
      ),
    })
    .parse(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')));
  const limits = new Map(
    Object.values(operations.paths).flatMap((path) =>
      Object.values(path).map((operation) => [operation.operationId, operation['x-rate-limit']?.name]),
    ),
  );
  for (const { rest, graphql } of pairs) {
    const [typeName = '', fieldName = ''] = graphql.split('.');
    const type = schema.getType(typeName);
    const field = type && 'getFields' in type ? type.getFields()[fieldName] : undefined;
    expect(field?.extensions.rateLimitName, `${rest} and ${graphql}`).toBe(limits.get(rest));
  }
  const limited = [...rootFields.keys()].filter((name) => {
    const [typeName = '', fieldName = ''] = name.split('.');
    const type = schema.getType(typeName);
    return type && 'getFields' in type && type.getFields()[fieldName]?.extensions.rateLimitName !== undefined;
  });
  expect(limited.sort()).toEqual([
    'Mutation.beginTotp',
    'Mutation.confirmSession',
    'Mutation.confirmTotp',
    'Mutation.createApplication',
    'Mutation.createBlindLicenses',
    'Mutation.createLicenses',
    'Mutation.deleteAccount',
    'Mutation.disableTotp',
    'Mutation.issueOfflineLease',
    'Mutation.login',
    'Mutation.redeliverWebhookDelivery',
    'Mutation.register',
    'Mutation.renewRecoveryCodes',
    'Mutation.replayWebhook',
    'Mutation.rotateLicenseKey',
    'Mutation.setKeyCreationMode',
    'Mutation.setRequireConfirmation',
    'Mutation.setVault',
    'Mutation.testWebhook',
    'Mutation.updateProfile',
    'Query.accountExport',
  ]);
});

describe('failed bearer attempts', () => {
  test('are counted over both transports, and refused before GraphQL in the shape of REST', async () => {
    const client = visitor(server).with({ bearer: `service_live_${'a'.repeat(43)}` });
    for (let round = 0; round < 15; round++) {
      expect((await client.request(MeDocument)).codes).toEqual(['UNAUTHENTICATED']);
      expect((await client.api.get('/api/v1/auth/me')).status).toBe(401);
    }
    const answer = await client.api.post('/graphql', { query: '{ me { id } }' });
    expect(answer).toMatchObject({ status: 429, body: { success: false, code: 'RATE_LIMITED' } });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

test('limits follow the configuration', async () => {
  const strict = await startTestServer({ env: { RATE_LIMITS: 'auth=2' } });
  try {
    const answer = await visitor(strict).ask(logins(4), { input });
    expect(tally(answer)).toEqual({ INVALID_CREDENTIALS: 2, RATE_LIMITED: 2 });
    expect(answer.headers.get('ratelimit-limit')).toBe('2');
  } finally {
    await strict.close();
  }
});
