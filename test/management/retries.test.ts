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

  test('a mutation is not retried', async ({ server }) => {
    server.answer(answer, data({ createLicenses: { keys: [], warning: '' } }));
    await rejectionOf(server.client().request(CreateLicensesDocument, { input }));
    expect(server.seen).toHaveLength(1);
  });
});

test('the error of a mutation without a response says that it may have been executed', async ({ server }) => {
  server.answer(hangUp);
  await expect(server.client().request(CreateLicensesDocument, { input })).rejects.toMatchObject({
    code: 'NETWORK',
    message: expect.stringContaining('may still have been made'),
  });
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
  ['mutation { logout { success } }', 1],
  ['# query\nmutation A { logout { success } }', 1],
  ['fragment F on Query { me { id } } mutation A { logout { success } }', 1],
  ['query A { me { id } } mutation B { logout { success } }', 1],
  ['mutation($a: String = "query") @live(if: "}") { logout { success } }', 1],
  ['mutation($a: String = """\n"}{ \\""" query """) { logout { success } }', 1],
  ['{ me { id } }', 2],
  ['query mutations { me { id } }', 2],
  ['query { me { mutation: id } }', 2],
  ['query($a: String = "mutation") { me { id } } # mutation', 2],
  ['query A { ...F } fragment F on Query { me { id } }', 2],
] as const)('%j is sent %i times by what it does', async ([text, times], { server }) => {
  server.answer(hangUp);
  const document = new TypedDocumentString<{ me: { id: string } | null }, Record<string, never>>(text);
  await rejectionOf(server.client({ retries: 1 }).request(document));
  expect(server.seen).toHaveLength(times);
});
