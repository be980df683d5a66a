import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cookieOf } from '../setup/api-client.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import {
  AccountDocument,
  CreateLicensesDocument,
  DeleteAccountDocument,
  LoginDocument,
  MeDocument,
  SetKeyCreationModeDocument,
  SetLicenseMaskDocument,
  SetVaultDocument,
  UpdateProfileDocument,
  type UpdateProfileInput,
} from './generated/graphql.ts';
import {
  createApiKey,
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  noLimits,
  payloadOf,
  visitor,
  whoAmI,
} from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createGraphqlWorld(server));

const account = async () => payloadOf(await world.graphql.request(AccountDocument), 'me').account;
const wrong = 'not the password';

describe('setLicenseMask', () => {
  const setMask = (input: { mask?: string | null }) =>
    world.graphql.request(SetLicenseMaskDocument, { input });

  test('returns the account with the mask, which new keys follow', async () => {
    const mask = 'PHOTO-XXXXXXXXXXXXXXXX';
    const answer = await setMask({ mask });
    expect(payloadOf(answer, 'setLicenseMask').account).toEqual({
      id: world.developer.id,
      keyCreationMode: 'default',
      licenseMask: mask,
      vault: null,
    });
    expect((await (await world.createApplication()).mintOne()).licenseKey).toMatch(/^PHOTO-/);
    expect(payloadOf(await world.graphql.request(MeDocument), 'me').licenseMask).toBe(mask);
  });

  test.each([{ mask: null }, {}])('resets to the default mask with %j', async (input) => {
    await setMask({ mask: 'PHOTO-XXXXXXXXXXXXXXXX' });
    expect(payloadOf(await setMask(input), 'setLicenseMask').account.licenseMask).toBeNull();
    expect((await (await world.createApplication()).mintOne()).licenseKey).toMatch(/^\w{5}(-\w{5}){4}$/);
  });

  test.each(['', 'XXXXXXX', ...illFormedTexts.map(([, text]) => text)])('refuses %j', async (mask) => {
    expectIssues(await setMask({ mask }), [['mask']]);
    expect((await account()).licenseMask).toBeNull();
  });
});

describe('setKeyCreationMode', () => {
  const setMode = (mode: 'default' | 'private', password = world.developer.password) =>
    world.graphql.request(SetKeyCreationModeDocument, { input: { mode, password } });

  test('returns the account in its new mode, which applies at once', async () => {
    const { id: applicationId } = await world.createApplication();
    const input = { applicationId, amount: 1, durationSeconds: 0 };
    const answer = await setMode('private');
    expect(payloadOf(answer, 'setKeyCreationMode').account).toMatchObject({ keyCreationMode: 'private' });
    expectRefused(await world.graphql.request(CreateLicensesDocument, { input }), 'PRIVATE_MODE');
    const back = await setMode('default');
    expect(payloadOf(back, 'setKeyCreationMode').account).toMatchObject({ keyCreationMode: 'default' });
    payloadOf(await world.graphql.request(CreateLicensesDocument, { input }), 'createLicenses');
  });

  test('refuses a wrong password', async () => {
    expectRefused(await setMode('private', wrong), 'INVALID_CREDENTIALS');
    expect((await account()).keyCreationMode).toBe('default');
  });
});

describe('setVault', () => {
  const vault = () => ({
    vaultSaltB64: randomBytes(16).toString('base64'),
    vaultCheckB64: randomBytes(48).toString('base64'),
  });
  const setVault = (fields: Record<string, string>) =>
    world.graphql.request(SetVaultDocument, {
      input: { ...vault(), password: world.developer.password, ...fields },
    });

  test('returns the account with the vault, and again with another one', async () => {
    for (const one of [vault(), vault()]) {
      const answer = await setVault(one);
      expect(payloadOf(answer, 'setVault').account.vault).toEqual(one);
      expect((await account()).vault).toEqual(one);
    }
  });

  test.each<[string, Record<string, string>, string]>([
    ['a salt of 15 bytes', { vaultSaltB64: randomBytes(15).toString('base64') }, 'vaultSaltB64'],
    ['a salt of 65 bytes', { vaultSaltB64: randomBytes(65).toString('base64') }, 'vaultSaltB64'],
    ['a check of 1025 bytes', { vaultCheckB64: randomBytes(1025).toString('base64') }, 'vaultCheckB64'],
    ['a check that is not base64', { vaultCheckB64: 'not base64, but long enough' }, 'vaultCheckB64'],
  ])('refuses %s and says where', async (_what, fields, path) => {
    expectIssues(await setVault(fields), [[path]]);
    expect((await account()).vault).toBeNull();
  });

  test('refuses a wrong password', async () => {
    expectRefused(await setVault({ password: wrong }), 'INVALID_CREDENTIALS');
    expect((await account()).vault).toBeNull();
  });
});

describe('updateProfile', () => {
  const update = (fields: Partial<UpdateProfileInput>, client = world.graphql) =>
    client.request(UpdateProfileDocument, { input: { password: world.developer.password, ...fields } });
  const loginWith = (password: string, email = world.developer.email) =>
    visitor(server).request(LoginDocument, { input: { email, password } });
  const newPassword = 'an entirely new password';

  test('returns the updated developer, and sets no cookie', async () => {
    const email = `new.${world.developer.email}`;
    const answer = await update({ name: 'Grace', email, newPassword: null });
    expect(payloadOf(answer, 'updateProfile').developer).toEqual({
      id: world.developer.id,
      email,
      name: 'Grace',
      account: { id: world.developer.id },
    });
    expect(answer.headers.getSetCookie()).toEqual([]);
    payloadOf(await loginWith(world.developer.password, email), 'login');
    expect(await whoAmI(world.graphql)).toBe(world.developer.id);
  });

  test('with a new password sets a valid cookie and invalidates earlier ones', async () => {
    const elsewhere = cookieOf((await loginWith(world.developer.password)).answer);
    const answer = await update({ newPassword });
    expect(payloadOf(answer, 'updateProfile').developer.account).toEqual({ id: world.developer.id });
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toEqual([
      expect.stringMatching(/^service_session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const renewed = world.graphql.with({ cookie: cookieOf(answer.answer) ?? '' });
    expect(await whoAmI(renewed)).toBe(world.developer.id);
    for (const ended of [world.graphql, world.graphql.with({ cookie: elsewhere ?? '' })]) {
      expectRefused(await ended.request(MeDocument), 'UNAUTHENTICATED');
    }
    expectRefused(await loginWith(world.developer.password), 'INVALID_CREDENTIALS');
    payloadOf(await loginWith(newPassword), 'login');
  });

  test('with a new password and an API key sets no cookie, and invalidates existing ones', async () => {
    const { apiKey } = await createApiKey(world.client);
    const client = visitor(server).with({ bearer: apiKey });
    const answer = await update({ newPassword }, client);
    expect(payloadOf(answer, 'updateProfile').developer.id).toBe(world.developer.id);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expectRefused(await world.graphql.request(MeDocument), 'UNAUTHENTICATED');
    expect(await whoAmI(client)).toBe(world.developer.id);
  });

  test('refuses a wrong password and an address of another account, and sets no cookie', async () => {
    const other = await createGraphqlWorld(server);
    const taken = await update({ email: other.developer.email.toUpperCase(), newPassword });
    expectRefused(taken, 'EMAIL_TAKEN');
    const refused = await update({ name: 'Eve', newPassword, password: wrong });
    expectRefused(refused, 'INVALID_CREDENTIALS');
    for (const answer of [taken, refused]) {
      expect(answer.data).toEqual({ updateProfile: null });
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(payloadOf(await world.graphql.request(MeDocument), 'me')).toMatchObject({ name: 'Ada' });
  });

  test.each<[string, Partial<UpdateProfileInput>, string]>([
    ['a blank name', { name: ' ' }, 'name'],
    ['an address that is none', { email: 'ada' }, 'email'],
    ['a new password of 11 characters', { newPassword: 'a'.repeat(11) }, 'newPassword'],
    ['an empty password', { password: '' }, 'password'],
  ])('refuses %s and says where', async (_what, fields, path) => {
    expectIssues(await update(fields), [[path]]);
  });
});

describe('deleteAccount', () => {
  const remove = (fields: Record<string, string> = {}) =>
    world.graphql.request(DeleteAccountDocument, {
      input: { password: world.developer.password, confirm: 'DELETE', ...fields },
    });

  test('returns the id, clears the cookie, and ends every credential', async () => {
    const { apiKey } = await createApiKey(world.client);
    const answer = await remove();
    expect(payloadOf(answer, 'deleteAccount')).toEqual({ deletedDeveloperId: world.developer.id });
    expect(answer.headers.getSetCookie()).toEqual([
      'service_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ]);
    for (const ended of [world.graphql, visitor(server).with({ bearer: apiKey })]) {
      expectRefused(await ended.request(MeDocument), 'UNAUTHENTICATED');
    }
  });

  test('refuses a wrong password and any text but DELETE, and keeps the cookie', async () => {
    const withoutPassword = await remove({ password: wrong });
    expectRefused(withoutPassword, 'INVALID_CREDENTIALS');
    const unconfirmed = await remove({ confirm: 'delete' });
    expectIssues(unconfirmed, [['confirm']]);
    for (const { headers } of [withoutPassword, unconfirmed]) expect(headers.getSetCookie()).toEqual([]);
    expect(await whoAmI(world.graphql)).toBe(world.developer.id);
  });
});
