import { readFileSync } from 'node:fs';
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  ApplicationDocument,
  BanLicenseDocument,
  CreateApplicationDocument,
  CreateLicensesDocument,
  DeleteApplicationDocument,
  LicensesDocument,
  LoginDocument,
  MeDocument,
  type MeQuery,
  type MeQueryVariables,
  type TypedDocument,
  TypedDocumentString,
  UpdateApplicationSettingsDocument,
} from '../../src/management/index.ts';
import { nobodysId } from '../graphql/support.ts';
import { useServer } from '../setup/use-world.ts';
import { clientOf, createManagedWorld, unknownKey } from './support.ts';

const server = useServer();

test('an integrator creates an application, mints keys, bans one, and deletes everything', async () => {
  const { latchkey } = await createManagedWorld(server);
  const { createApplication } = await latchkey.request(CreateApplicationDocument, {
    input: { name: 'Photo Lab' },
  });
  const { id, publicKeyB64 } = createApplication.application;
  expect(createApplication.sdkHint).toMatchObject({ appId: id, publicKeyB64, version: '1.0.0' });

  const { createLicenses } = await latchkey.request(CreateLicensesDocument, {
    input: { applicationId: id, amount: 2, durationSeconds: 60 },
  });
  expect(new Set(createLicenses.keys.map(({ licenseKey }) => licenseKey)).size).toBe(2);

  const licenseId = createLicenses.keys[0]?.id ?? '';
  const { banLicense } = await latchkey.request(BanLicenseDocument, { input: { id: licenseId } });
  expect(banLicense.license).toMatchObject({ id: licenseId, status: 'banned' });

  const { updateApplicationSettings } = await latchkey.request(UpdateApplicationSettingsDocument, {
    input: { id, version: '2.0.0', responseMessages: [{ key: 'OK', text: 'Hi' }] },
  });
  expect(updateApplicationSettings.application.version).toBe('2.0.0');
  expect(updateApplicationSettings.application.responseMessages).toContainEqual({ key: 'OK', text: 'Hi' });

  const { deleteApplication } = await latchkey.request(DeleteApplicationDocument, { input: { id } });
  expect(deleteApplication).toEqual({ deletedApplicationId: id });
  await expect(latchkey.request(ApplicationDocument, { id })).rejects.toMatchObject({
    code: 'APP_NOT_FOUND',
  });
});

describe('a document of the caller is accepted', () => {
  const text = 'query Me { ...Names } fragment Names on Query { me { id name } }';
  test.each<[how: string, document: TypedDocument<MeQuery, MeQueryVariables>]>([
    ['as text', new TypedDocumentString<MeQuery, MeQueryVariables>(text)],
    ['as a tree', parse(text)],
    ['as a tree without its source', parse(text, { noLocation: true })],
  ])('%s', async (_how, document) => {
    const { latchkey, developer } = await createManagedWorld(server);
    await expect(latchkey.request(document)).resolves.toEqual({ me: { id: developer.id, name: 'Ada' } });
  });
});

describe('a refusal of the service is an error with its code:', () => {
  test('invalid input, with its issues', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const { id: applicationId } = await createApplication();
    const input = { applicationId, amount: 0, durationSeconds: 0 };
    await expect(latchkey.request(CreateLicensesDocument, { input })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      path: ['createLicenses'],
      issues: [{ path: ['amount'], message: expect.any(String) }],
      requestId: expect.any(String),
      data: { createLicenses: null },
    });
  });

  test("another developer's application", async () => {
    const [mine, other] = await Promise.all([createManagedWorld(server), createManagedWorld(server)]);
    const { id } = await other.createApplication();
    for (const unknown of [id, nobodysId]) {
      const call = mine.latchkey.request(ApplicationDocument, { id: unknown });
      await expect(call).rejects.toMatchObject({ code: 'APP_NOT_FOUND', status: 200 });
    }
  });

  test('a missing key, and an invalid one', async () => {
    for (const apiKey of [undefined, unknownKey()]) {
      await expect(clientOf(server, apiKey).request(MeDocument)).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      });
    }
  });

  test('too many wrong keys, with the seconds to wait', async () => {
    const guesser = clientOf(server, unknownKey());
    const options = { timeoutMilliseconds: 3_000 };
    const codes: unknown[] = [];
    for (let guess = 0; guess < 31; guess += 1) {
      const outcome = await guesser.request(MeDocument, {}, options).catch((error: unknown) => error);
      codes.push(outcome);
    }
    expect(codes.slice(0, 30)).toEqual(
      Array.from({ length: 30 }, () => expect.objectContaining({ code: 'UNAUTHENTICATED' })),
    );
    expect(codes[30]).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
  });

  test('a wrong password, independent of the key', async () => {
    const { latchkey, developer } = await createManagedWorld(server);
    const input = { email: developer.email, password: 'not the password' };
    await expect(latchkey.request(LoginDocument, { input })).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
  });

  test('a document that is too complex, invalid, or too large', async () => {
    const { latchkey, createApplication } = await createManagedWorld(server);
    const { id: applicationId } = await createApplication();
    const ask = (text: string) =>
      latchkey.request(new TypedDocumentString<object, Record<string, never>>(text));
    const nested = `{ me { ${'applications { edges { node { licenses { edges { node { application { '.repeat(3)}`;
    await expect(ask('{ nope }')).rejects.toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    await expect(ask('{')).rejects.toMatchObject({ code: 'GRAPHQL_PARSE_FAILED' });
    await expect(ask(`{ me { id } } # ${'x'.repeat(200_000)}`)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      status: 413,
    });
    await expect(ask(`${nested}id${'}'.repeat(23)}`)).rejects.toMatchObject({ code: 'QUERY_TOO_DEEP' });
    await expect(latchkey.request(LicensesDocument, { applicationId, q: 'a\0b' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });
});

test('the client has the codes of the services and of both transports, and no other', async () => {
  const { serviceErrorCodes } = await import('../../src/services/errors.ts');
  const { serviceCodes } = await import('../../src/management/errors.ts');
  const limits = readFileSync(new URL('../../src/graphql/query-limits.ts', import.meta.url), 'utf8');
  const ofLimits = new Set(limits.match(/QUERY_TOO_\w+/g));
  expect(ofLimits.size).toBeGreaterThan(2);
  const ofTransports = [
    'BAD_REQUEST',
    'GRAPHQL_PARSE_FAILED',
    'GRAPHQL_VALIDATION_FAILED',
    'NOT_ACCEPTABLE',
    'PAYLOAD_TOO_LARGE',
    'ROUTE_NOT_FOUND',
  ];
  expect(serviceCodes.toSorted()).toEqual([...serviceErrorCodes, ...ofLimits, ...ofTransports].toSorted());
});
