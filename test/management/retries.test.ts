import { describe, expect } from 'vitest';
import { CreateLicensesDocument, MeDocument, TypedDocumentString } from '../../src/management/index.ts';
import { data, failed, hangUp, json, type Reply, rejectionOf, reply, test } from './stand-in.ts';

const me = data({ me: { id: '1' } });
const input = { applicationId: 'a', amount: 1, durationSeconds: 0 };
const unavailable = reply(503, 'Back soon', { 'content-type': 'text/plain' });

const passing: [what: string, answer: Reply][] = [
  ['a closed connection', hangUp],
  ['503 of a proxy', unavailable],
  ['503 in the shape of REST', json(503, { success: false, error: 'Not now.', code: 'UNAVAILABLE' })],
  ['UNAVAILABLE', failed('UNAVAILABLE')],
  ['RATE_LIMITED that is over at once', failed('RATE_LIMITED', 'me', { 'retry-after': '0' })],
];

describe.each(passing)('after %s', (_what, answer) => {
  test('a query is retried and succeeds', async ({ server }) => {
    server.answer(answer, me);
    await expect(server.client().request(MeDocument)).resolves.toEqual({ me: { id: '1' } });
    expect(server.seen).toHaveLength(2);
  });

  test('a query is sent at most three times', async ({ server }) => {
    server.answer(answer);
    await rejectionOf(server.client().request(MeDocument));
    expect(server.seen).toHaveLength(3);
  });

  test('a mutation is retried with the same Idempotency-Key', async ({ server }) => {
    server.answer(answer, answer, data({ createLicenses: { keys: [], warning: '' } }));
    const client = server.client();
    await client.request(CreateLicensesDocument, { input });
    await client.request(CreateLicensesDocument, { input });
    await client.request(CreateLicensesDocument, { input }, { idempotencyKey: 'order 0000000017' });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3], 'order 0000000017']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a query has no Idempotency-Key', async ({ server }) => {
    server.answer(me);
    await server.client().request(MeDocument, {}, { idempotencyKey: 'order 0000000017' });
    expect(server.seen[0]?.headers).not.toHaveProperty('idempotency-key');
  });
});

test('the error of a mutation that may have been executed says so, and has the key to repeat it', async ({
  server,
}) => {
  for (const answers of [[hangUp], [hangUp, failed('RATE_LIMITED')]]) {
    server.answer(...answers);
    const error = await rejectionOf(server.client({ retries: 1 }).request(CreateLicensesDocument, { input }));
    expect(error).toMatchObject({
      message: expect.stringContaining('may have been made'),
      idempotencyKey: server.seen.at(-1)?.headers['idempotency-key'],
    });
  }
  server.answer(failed('APP_NOT_FOUND'));
  const refused = await rejectionOf(server.client().request(CreateLicensesDocument, { input }));
  expect(refused).toMatchObject({ code: 'APP_NOT_FOUND', idempotencyKey: undefined });
});

test('a mutation whose first attempt is still running is sent until it is answered', async ({ server }) => {
  const running = failed('IDEMPOTENCY_IN_PROGRESS', 'createLicenses');
  server.answer(hangUp, running, running, running, data({ createLicenses: { keys: [], warning: '' } }));
  await server.client({ retries: 1 }).request(CreateLicensesDocument, { input });
  expect(server.seen).toHaveLength(5);
});

test.for(['UNAUTHENTICATED', 'APP_NOT_FOUND', 'VALIDATION_FAILED', 'INTERNAL', 'QUERY_TOO_DEEP'])(
  'a query refused with %s is not retried',
  async (code, { server }) => {
    server.answer(failed(code), me);
    await expect(server.client().request(MeDocument)).rejects.toMatchObject({ code });
    expect(server.seen).toHaveLength(1);
  },
);

test('a query that must wait longer than its timeout fails at once', async ({ server }) => {
  server.answer(failed('RATE_LIMITED', 'me', { 'retry-after': '60' }), me);
  await expect(server.client().request(MeDocument)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    retryAfterSeconds: 60,
  });
  expect(server.seen).toHaveLength(1);
});

test('a rate-limited query without Retry-After is not retried', async ({ server }) => {
  server.answer(reply(429, 'Slow down', { 'content-type': 'text/plain' }), me);
  await expect(server.client().request(MeDocument)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(server.seen).toHaveLength(1);
});

test('a signal ends the pause before a retry', async ({ server }) => {
  server.answer(failed('RATE_LIMITED', 'me', { 'retry-after': '20' }), me);
  const controller = new AbortController();
  const call = rejectionOf(server.client().request(MeDocument, {}, { signal: controller.signal }));
  await expect.poll(() => server.seen.length).toBe(1);
  controller.abort();
  expect(await call).toMatchObject({ code: 'ABORTED' });
});

test.for([
  ['mutation { logout { success } }', true],
  ['# query\nmutation A { logout { success } }', true],
  ['fragment F on Query { me { id } } mutation A { logout { success } }', true],
  ['query A { me { id } } mutation B { logout { success } }', true],
  ['mutation($a: String = "query") @live(if: "}") { logout { success } }', true],
  ['mutation($a: String = """\n"}{ \\""" query """) { logout { success } }', true],
  ['{ me { id } }', false],
  ['query mutations { me { id } }', false],
  ['query { me { mutation: id } }', false],
  ['query($a: String = "mutation") { me { id } } # mutation', false],
  ['query A { ...F } fragment F on Query { me { id } }', false],
] as const)('whether %j is sent with an Idempotency-Key: %s', async ([text, isMutation], { server }) => {
  server.answer(me);
  const document = new TypedDocumentString<{ me: { id: string } | null }, Record<string, never>>(text);
  await server.client().request(document);
  expect('idempotency-key' in (server.seen[0]?.headers ?? {})).toBe(isMutation);
});
