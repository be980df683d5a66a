import { describe, expect, test } from 'vitest';
import { useServer } from '../setup/use-world.ts';
import {
  ApplicationDocument,
  CreateApplicationDocument,
  DeleteApplicationDocument,
  LicensesDocument,
  UpdateApplicationSettingsDocument,
  type UpdateApplicationSettingsInput,
} from './generated/graphql.ts';
import {
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  nobodysId,
  noLimits,
  payloadOf,
} from './support.ts';

const server = useServer({ env: noLimits });

type Wrong = [what: string, fields: Record<string, unknown>, path: (string | number)[]];

describe('createApplication', () => {
  test('returns the application with its defaults and the SDK hint', async () => {
    const { graphql } = await createGraphqlWorld(server);
    const answer = await graphql.request(CreateApplicationDocument, { input: { name: 'Photo Lab' } });
    const { application, sdkHint } = payloadOf(answer, 'createApplication');
    expect(application).toMatchObject({
      name: 'Photo Lab',
      version: '1.0.0',
      status: 'active',
      hwidLockEnabled: true,
      requireLicenseToRegister: true,
      registrationEnabled: true,
      protocol: 'any',
      leasesEnabled: false,
      leaseDays: 7,
    });
    expect(Buffer.from(application.publicKeyB64, 'base64')).toHaveLength(32);
    expect(application.responseMessages).toHaveLength(22);
    expect(sdkHint).toEqual({
      appId: application.id,
      version: '1.0.0',
      publicKeyB64: application.publicKeyB64,
      protocol: 2,
      baseUrl: server.deps.config.publicUrl,
      snippet: expect.stringContaining(application.id),
    });
  });

  test('returns the same as REST for the same application', async () => {
    const { graphql, client } = await createGraphqlWorld(server);
    const input = { name: 'Photo Lab', version: '2.1' };
    const answer = await graphql.request(CreateApplicationDocument, { input });
    const { application } = payloadOf(answer, 'createApplication');
    const { responseMessages, ...fields } = application;
    expect((await client.get(`/api/v1/apps/${application.id}`)).body).toEqual({
      success: true,
      application: {
        ...fields,
        responseMessages: Object.fromEntries(responseMessages.map(({ key, text }) => [key, text])),
      },
    });
    const read = await graphql.request(ApplicationDocument, { id: application.id });
    expect(payloadOf(read, 'application')).toEqual(application);
  });

  test('treats null for the version as absent', async () => {
    const { graphql } = await createGraphqlWorld(server);
    const input = { name: 'Photo Lab', version: null };
    const answer = await graphql.request(CreateApplicationDocument, { input });
    expect(payloadOf(answer, 'createApplication').application.version).toBe('1.0.0');
  });

  test.each<Wrong>([
    ['an empty name', { name: '' }, ['name']],
    ['a name of 101 characters', { name: 'a'.repeat(101) }, ['name']],
    ['an empty version', { version: '' }, ['version']],
    ['a version of 65 characters', { version: 'a'.repeat(65) }, ['version']],
    ...illFormedTexts.map(
      ([what, text]) => [`${what} in the name`, { name: text }, ['name']] satisfies Wrong,
    ),
    ...illFormedTexts.map(
      ([what, text]) => [`${what} in the version`, { version: text }, ['version']] satisfies Wrong,
    ),
  ])('refuses %s and says where', async (_what, fields, path) => {
    const { graphql } = await createGraphqlWorld(server);
    const input = { name: 'Photo Lab', ...fields };
    const answer = await graphql.request(CreateApplicationDocument, { input });
    expectIssues(answer, [path]);
  });
});

describe('updateApplicationSettings', () => {
  const cases: [string, Omit<UpdateApplicationSettingsInput, 'id'>][] = [
    ['version', { version: '2.0 beta' }],
    ['status', { status: 'disabled' }],
    ['hwidLockEnabled', { hwidLockEnabled: false }],
    ['requireLicenseToRegister', { requireLicenseToRegister: false }],
    ['registrationEnabled', { registrationEnabled: false }],
    ['protocol', { protocol: 'v2_only' }],
    ['leasesEnabled', { leasesEnabled: true }],
    ['leaseDays', { leaseDays: 30 }],
  ];
  test.each(cases)('changes only %s', async (_name, settings) => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id } = await createApplication();
    const before = payloadOf(await graphql.request(ApplicationDocument, { id }), 'application');
    const answer = await graphql.request(UpdateApplicationSettingsDocument, { input: { id, ...settings } });
    const { application } = payloadOf(answer, 'updateApplicationSettings');
    expect(application).toEqual({ ...before, ...settings, updatedAt: expect.any(String) });
    const after = await graphql.request(ApplicationDocument, { id });
    expect(payloadOf(after, 'application')).toEqual(application);
  });

  test('merges messages with the stored ones and returns all of them', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id, settings } = await createApplication();
    await settings({ responseMessages: { OK: 'Fine.', EXPIRED: 'Renew it.' } });
    const answer = await graphql.request(UpdateApplicationSettingsDocument, {
      input: {
        id,
        responseMessages: [
          { key: 'EXPIRED', text: 'Over.' },
          { key: 'BANNED', text: 'No.' },
        ],
      },
    });
    const texts = payloadOf(answer, 'updateApplicationSettings').application.responseMessages;
    expect(texts).toHaveLength(22);
    expect(Object.fromEntries(texts.map(({ key, text }) => [key, text]))).toMatchObject({
      OK: 'Fine.',
      EXPIRED: 'Over.',
      BANNED: 'No.',
      IP_BANNED: 'Access from your network address has been blocked.',
    });
  });

  test('does not change fields that are null', async () => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id, version } = await createApplication({ version: '7' });
    const answer = await graphql.request(UpdateApplicationSettingsDocument, {
      input: { id, version: null, status: null, hwidLockEnabled: false, responseMessages: null },
    });
    expect(payloadOf(answer, 'updateApplicationSettings').application).toMatchObject({
      version,
      status: 'active',
      hwidLockEnabled: false,
    });
  });

  test.each<Wrong>([
    ['nothing to change', {}, []],
    ['only nulls', { version: null, status: null }, []],
    ['an empty version', { version: '' }, ['version']],
    ['an empty text', { responseMessages: [{ key: 'OK', text: '' }] }, ['responseMessages', 0, 'text']],
    [
      'a text of 501 characters',
      {
        responseMessages: [
          { key: 'OK', text: 'a' },
          { key: 'BANNED', text: 'a'.repeat(501) },
        ],
      },
      ['responseMessages', 1, 'text'],
    ],
    [
      'a key that occurs twice',
      {
        responseMessages: [
          { key: 'OK', text: 'a' },
          { key: 'OK', text: 'b' },
        ],
      },
      ['responseMessages', 1, 'key'],
    ],
    ...illFormedTexts.map(
      ([what, text]) =>
        [
          `${what} in a text`,
          { responseMessages: [{ key: 'OK', text }] },
          ['responseMessages', 0, 'text'],
        ] satisfies Wrong,
    ),
  ])('refuses %s and says where', async (_what, settings, path) => {
    const { graphql, createApplication } = await createGraphqlWorld(server);
    const { id } = await createApplication();
    const before = payloadOf(await graphql.request(ApplicationDocument, { id }), 'application');
    const answer = await graphql.request(UpdateApplicationSettingsDocument, { input: { id, ...settings } });
    expectIssues(answer, [path]);
    const after = await graphql.request(ApplicationDocument, { id });
    expect(payloadOf(after, 'application')).toEqual(before);
  });

  test('returns APP_NOT_FOUND for a missing application', async () => {
    const { graphql } = await createGraphqlWorld(server);
    const input = { id: nobodysId, version: '2' };
    expectRefused(await graphql.request(UpdateApplicationSettingsDocument, { input }), 'APP_NOT_FOUND');
  });
});

describe('deleteApplication', () => {
  test('deletes it with its licenses, once', async () => {
    const { graphql, createApplication, client } = await createGraphqlWorld(server);
    const [application, other] = [await createApplication(), await createApplication()];
    const { id } = application;
    const license = await application.mintOne();
    const answer = await graphql.request(DeleteApplicationDocument, { input: { id } });
    expect(payloadOf(answer, 'deleteApplication')).toEqual({ deletedApplicationId: id });
    expectRefused(await graphql.request(ApplicationDocument, { id }), 'APP_NOT_FOUND');
    expectRefused(await graphql.request(LicensesDocument, { applicationId: id }), 'APP_NOT_FOUND');
    expect((await client.post(`/api/v1/licenses/${license.id}/ban`, {})).body).toMatchObject({
      code: 'LICENSE_NOT_FOUND',
    });
    expectRefused(await graphql.request(DeleteApplicationDocument, { input: { id } }), 'APP_NOT_FOUND');
    const left = await graphql.request(ApplicationDocument, { id: other.id });
    expect(payloadOf(left, 'application').id).toBe(other.id);
  });
});

describe('application', () => {
  test.each([
    ['a UUID that names nothing', nobodysId],
    ['text that is no UUID', 'photo-lab'],
    ['an empty text', ''],
    ['NUL', '\0'],
    ['a lone surrogate', '\ud800'],
    ['ten thousand characters', 'a'.repeat(10_000)],
    ['an injected quote', "' OR TRUE --"],
  ])('is null with APP_NOT_FOUND for %s', async (_what, id) => {
    const { graphql } = await createGraphqlWorld(server);
    const answer = await graphql.request(ApplicationDocument, { id });
    expectRefused(answer, 'APP_NOT_FOUND');
    expect(answer.data).toEqual({ application: null });
    expectRefused(await graphql.request(DeleteApplicationDocument, { input: { id } }), 'APP_NOT_FOUND');
    expectRefused(
      await graphql.request(UpdateApplicationSettingsDocument, { input: { id, version: '2' } }),
      'APP_NOT_FOUND',
    );
  });
});

test('a failed mutation does not affect others in the document', async () => {
  const { graphql } = await createGraphqlWorld(server);
  const answer = await graphql.ask(
    `mutation ($missing: ID!) {
      first: createApplication(input: { name: "One" }) { application { name } }
      failing: deleteApplication(input: { id: $missing }) { deletedApplicationId }
      last: createApplication(input: { name: "Two" }) { application { name } }
    }`,
    { missing: nobodysId },
  );
  expectRefused(answer, 'APP_NOT_FOUND');
  expect(answer.errors[0]?.path).toEqual(['failing']);
  expect(answer.data).toEqual({
    first: { application: { name: 'One' } },
    failing: null,
    last: { application: { name: 'Two' } },
  });
});
