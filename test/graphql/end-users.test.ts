import { describe, expect, test } from 'vitest';
import { ask as askClient } from '../setup/end-users.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import {
  CreateEndUserDocument,
  type CreateEndUserInput,
  DeleteEndUserDocument,
  EndUserDocument,
  LicenseDocument,
  ResetEndUserHwidDocument,
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
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

const password = 'a user password';
const create = (fields: Partial<CreateEndUserInput> = {}) =>
  world.graphql.request(CreateEndUserDocument, {
    input: { applicationId: application.id, username: 'grace', password, ...fields },
  });
const withoutLicenses = () => application.settings({ requireLicenseToRegister: false });
const userOf = async (id: string) =>
  payloadOf(await world.graphql.request(EndUserDocument, { id }), 'endUser');

describe('createEndUser', () => {
  test('returns the user with the license that it has just activated', async () => {
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 4 });
    const { user } = payloadOf(await create({ licenseKey, email: 'grace@example.com' }), 'createEndUser');
    expect(user).toEqual({
      id: user.id,
      username: 'grace',
      email: 'grace@example.com',
      subscriptionTier: 4,
      lastIp: null,
      lastHwid: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      application: { id: application.id, name: 'Photo Lab' },
      license: {
        id,
        status: 'active',
        hwid: null,
        activatedAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    });
    const { activatedAt, expiresAt } = user.license ?? {};
    expect(Date.parse(expiresAt ?? '') - Date.parse(activatedAt ?? '')).toBe(3_600_000);
    expect(await userOf(user.id)).toEqual(user);
    const login = await askClient(server, application, 'login', { username: 'grace', password });
    expect(login).toMatchObject({ code: 'OK' });
  });

  test('treats null for optional fields as absent', async () => {
    await withoutLicenses();
    const { user } = payloadOf(await create({ email: null, licenseKey: null }), 'createEndUser');
    expect(user).toMatchObject({ email: null, license: null, subscriptionTier: null });
  });

  test('returns each refusal with its code, and creates no user', async () => {
    expectRefused(await create(), 'LICENSE_REQUIRED');
    expectRefused(await create({ licenseKey: 'AAAAA' }), 'LICENSE_NOT_FOUND');
    const elsewhere = await (await world.createApplication()).mintOne();
    expectRefused(await create({ licenseKey: elsewhere.licenseKey }), 'APP_MISMATCH');
    const banned = await application.mintOne();
    await world.client.post(`/api/v1/licenses/${banned.id}/ban`);
    expectRefused(await create({ licenseKey: banned.licenseKey }), 'BANNED');
    const expired = await application.mintOne({ durationSeconds: 1 });
    await (await openSession(server, application)).ask(validatePath, { licenseKey: expired.licenseKey });
    server.clock.step(2);
    expectRefused(await create({ licenseKey: expired.licenseKey }), 'EXPIRED');
    expectRefused(await create({ applicationId: nobodysId }), 'APP_NOT_FOUND');
    const license = await application.mintOne();
    payloadOf(await create({ licenseKey: license.licenseKey }), 'createEndUser');
    expectRefused(await create({ licenseKey: license.licenseKey }), 'USERNAME_TAKEN');
  });

  test.each<[string, Partial<CreateEndUserInput>, string]>([
    ['a username of 2 characters', { username: 'ab' }, 'username'],
    ['a username with a space', { username: 'a b c' }, 'username'],
    ['a password of 7 characters', { password: '1234567' }, 'password'],
    ['an address that is none', { email: 'grace' }, 'email'],
    ['an empty key', { licenseKey: '' }, 'licenseKey'],
    ...illFormedTexts.map(([what, text]): [string, Partial<CreateEndUserInput>, string] => [
      `${what} in the password`,
      { password: `${text}12345678` },
      'password',
    ]),
  ])('refuses %s and says where', async (_what, fields, path) => {
    await withoutLicenses();
    expectIssues(await create(fields), [[path]]);
  });
});

describe('resetEndUserHwid', () => {
  const reset = (userId: string, applicationId = application.id) =>
    world.graphql.request(ResetEndUserHwidDocument, { input: { applicationId, userId } });

  test('returns the user and the license, both without a device', async () => {
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
    const members = { username: 'grace', password, licenseKey, hwid: 'device-1' };
    const registered = await askClient(server, application, 'register', members);
    const userId = (registered.user as { id: string }).id;
    const before = await userOf(userId);
    expect(before).toMatchObject({ lastHwid: 'device-1', license: { id, hwid: 'device-1' } });
    const { user } = payloadOf(await reset(userId), 'resetEndUserHwid');
    expect(user).toEqual({
      ...before,
      lastHwid: null,
      updatedAt: expect.any(String),
      license: { ...before.license, hwid: null },
    });
    expectRefused(await reset(userId), 'HWID_NOT_SET');
    await world.client.post(`/api/v1/licenses/${id}/ban`);
    expectRefused(await reset(userId), 'LICENSE_BANNED');
  });

  test('reports which of the two is missing', async () => {
    await withoutLicenses();
    const { user } = payloadOf(await create(), 'createEndUser');
    expectRefused(await reset(nobodysId), 'USER_NOT_FOUND');
    expectRefused(await reset(user.id, nobodysId), 'APP_NOT_FOUND');
    expectRefused(await reset(user.id, (await world.createApplication()).id), 'USER_NOT_FOUND');
  });
});

describe('deleteEndUser', () => {
  const remove = (userId: string) =>
    world.graphql.request(DeleteEndUserDocument, { input: { applicationId: application.id, userId } });

  test('returns the id and the application, and keeps the license', async () => {
    const { id, licenseKey } = await application.mintOne();
    const { user } = payloadOf(await create({ licenseKey }), 'createEndUser');
    expect(payloadOf(await remove(user.id), 'deleteEndUser')).toEqual({
      deletedUserId: user.id,
      application: { id: application.id, users: { totalCount: 0 } },
    });
    const license = await world.graphql.request(LicenseDocument, { id });
    expect(payloadOf(license, 'license')).toMatchObject({ status: 'active', users: { totalCount: 0 } });
    expectRefused(await remove(user.id), 'USER_NOT_FOUND');
  });
});

describe('endUser', () => {
  test.each([nobodysId, 'no-uuid', '', '\0', '\ud800', 'a'.repeat(10_000)])(
    'answers USER_NOT_FOUND for %j',
    async (id) => {
      const answer = await world.graphql.request(EndUserDocument, { id });
      expectRefused(answer, 'USER_NOT_FOUND');
      expect(answer.data).toEqual({ endUser: null });
    },
  );
});
