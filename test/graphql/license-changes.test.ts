import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import {
  type BlindLicenseKeyInput,
  CreateBlindLicensesDocument,
  DeleteLicenseDocument,
  EndUserDocument,
  ExtendLicensesDocument,
  FilteredLicensesDocument,
  LicenseDocument,
  ResetLicenseHwidDocument,
  SetLicenseTierDocument,
} from './generated/graphql.ts';
import { insertUsers } from './rows.ts';
import {
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  nobodysId,
  payloadOf,
} from './support.ts';

const server = useServer({
  env: { RATE_LIMITS: 'auth=100000,licenseCreate=100000,blindCreate=100000' },
});
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

/** A key that a browser has made, and what it sends of it. */
function browserKey(fields: Partial<BlindLicenseKeyInput> = {}) {
  const licenseKey = randomBytes(16).toString('hex').toUpperCase();
  const key: BlindLicenseKeyInput = {
    licenseKeyHash: hashOf(licenseKey),
    licenseKeyPrefix: licenseKey.slice(0, 6),
    durationSeconds: 3600,
    ...fields,
  };
  return { licenseKey, key };
}

const createBlind = (keys: readonly BlindLicenseKeyInput[], fields: Record<string, unknown> = {}) =>
  world.graphql.request(CreateBlindLicensesDocument, {
    input: { applicationId: application.id, keys: [...keys], ...fields },
  });
const licenseOf = async (id: string) =>
  payloadOf(await world.graphql.request(LicenseDocument, { id }), 'license');
const countLicenses = async () => {
  const answer = await world.graphql.request(FilteredLicensesDocument, { applicationId: application.id });
  return payloadOf(answer, 'application').licenses.totalCount;
};
const validate = async (licenseKey: string, hwid?: string) =>
  (await openSession(server, application)).ask(validatePath, { licenseKey, hwid });

describe('createBlindLicenses', () => {
  test('stores hashes of keys that then validate, and answers them in the order of the input', async () => {
    const [one, two] = [browserKey({ subscriptionTier: 7, noteCiphertextB64: 'AAAA' }), browserKey()];
    const answer = await createBlind([one.key, two.key], { subscriptionTier: 3 });
    const { keys, application: owner } = payloadOf(answer, 'createBlindLicenses');
    expect(keys).toEqual([
      { id: keys[0]?.id, keyPrefix: one.key.licenseKeyPrefix, durationSeconds: 3600, subscriptionTier: 7 },
      { id: keys[1]?.id, keyPrefix: two.key.licenseKeyPrefix, durationSeconds: 3600, subscriptionTier: 3 },
    ]);
    expect(owner).toEqual({ id: application.id, licenses: { totalCount: 2 } });
    expect(await licenseOf(keys[0]?.id ?? '')).toMatchObject({ noteCiphertextB64: 'AAAA', status: 'unused' });
    expect(await validate(one.licenseKey)).toMatchObject({ code: 'OK', subscriptionTier: 7 });
    expect(await validate(two.licenseKey)).toMatchObject({ code: 'OK', subscriptionTier: 3 });
  });

  test('takes null for an optional field as its absence, in each key too', async () => {
    const { key } = browserKey({ subscriptionTier: null, noteCiphertextB64: null });
    const answer = await createBlind([key], { subscriptionTier: null, mask: null });
    const { keys } = payloadOf(answer, 'createBlindLicenses');
    expect(keys).toMatchObject([{ subscriptionTier: 0 }]);
    expect(await licenseOf(keys[0]?.id ?? '')).toMatchObject({ noteCiphertextB64: null });
    const inherited = await createBlind([browserKey({ subscriptionTier: null }).key], {
      subscriptionTier: 4,
    });
    expect(payloadOf(inherited, 'createBlindLicenses').keys).toMatchObject([{ subscriptionTier: 4 }]);
  });

  test('takes 10,000 keys with notes at once, and answers each', async () => {
    const keys = Array.from({ length: 10_000 }, () =>
      browserKey({ noteCiphertextB64: randomBytes(48).toString('base64') }),
    );
    const answer = await createBlind(keys.map(({ key }) => key));
    const payload = payloadOf(answer, 'createBlindLicenses');
    expect(payload.keys.map(({ keyPrefix }) => keyPrefix)).toEqual(
      keys.map(({ key }) => key.licenseKeyPrefix),
    );
    expect(payload.application?.licenses.totalCount).toBe(10_000);
    expect(await validate(keys.at(-1)?.licenseKey ?? '')).toMatchObject({ code: 'OK' });
  });

  test('refuses 10,001 keys, and none at all', async () => {
    const keys = Array.from({ length: 10_001 }, () => browserKey().key);
    expectIssues(await createBlind(keys), [['keys']]);
    expectIssues(await createBlind([]), [['keys']]);
    expect(await countLicenses()).toBe(0);
  });

  test('names the keys that exist already by their places, and stores none', async () => {
    const known = browserKey();
    await createBlind([known.key]);
    const twice = browserKey();
    const answer = await createBlind([browserKey().key, known.key, twice.key, twice.key]);
    const message = expect.any(String);
    expectRefused(answer, 'KEY_EXISTS', {
      issues: [
        { path: ['keys', 1, 'licenseKeyHash'], message },
        { path: ['keys', 3, 'licenseKeyHash'], message },
      ],
    });
    expect(answer.data).toEqual({ createBlindLicenses: null });
    expect(await countLicenses()).toBe(1);
  });

  test.each<[string, Partial<BlindLicenseKeyInput>, string]>([
    ['a hash of 63 characters', { licenseKeyHash: 'a'.repeat(63) }, 'licenseKeyHash'],
    ['a hash that is not hexadecimal', { licenseKeyHash: 'g'.repeat(64) }, 'licenseKeyHash'],
    ['an empty prefix', { licenseKeyPrefix: '' }, 'licenseKeyPrefix'],
    [
      'the whole key as its prefix',
      { licenseKeyPrefix: 'KEY', licenseKeyHash: hashOf('KEY') },
      'licenseKeyPrefix',
    ],
    ['a negative duration', { durationSeconds: -1 }, 'durationSeconds'],
    ['a negative tier', { subscriptionTier: -1 }, 'subscriptionTier'],
    ['a note that is not base64', { noteCiphertextB64: 'no base64' }, 'noteCiphertextB64'],
    ...illFormedTexts.map(([what, text]): [string, Partial<BlindLicenseKeyInput>, string] => [
      `${what} in the prefix`,
      { licenseKeyPrefix: text },
      'licenseKeyPrefix',
    ]),
  ])('refuses %s and says in which key', async (_what, fields, path) => {
    expectIssues(await createBlind([browserKey().key, browserKey(fields).key]), [['keys', 1, path]]);
    expect(await countLicenses()).toBe(0);
  });

  test('refuses a mask that could be guessed, and an application that is not there', async () => {
    expectIssues(await createBlind([browserKey().key], { mask: 'XXXXXXX' }), [['mask']]);
    expectRefused(await createBlind([browserKey().key], { applicationId: nobodysId }), 'APP_NOT_FOUND');
  });
});

describe('extendLicenses', () => {
  const extend = (seconds: number, applicationId = application.id) =>
    world.graphql.request(ExtendLicensesDocument, { input: { applicationId, seconds } });

  test('answers how many got more time, and the licenses as they are now', async () => {
    const ending = await application.mintOne({ durationSeconds: 3600 });
    const endless = await application.mintOne({ durationSeconds: 0 });
    const unused = await application.mintOne({ durationSeconds: 3600 });
    await validate(ending.licenseKey);
    await validate(endless.licenseKey);
    const before = await licenseOf(ending.id);
    const { extended, application: owner } = payloadOf(await extend(60), 'extendLicenses');
    expect(extended).toBe(1);
    const expiresAt = new Date(Date.parse(before.expiresAt ?? '') + 60_000).toISOString();
    expect(owner.licenses.edges.map(({ node }) => node)).toEqual([
      { id: unused.id, expiresAt: null },
      { id: endless.id, expiresAt: null },
      { id: ending.id, expiresAt },
    ]);
  });

  test.each([0, -1, 315_619_201])('refuses %i seconds', async (seconds) => {
    expectIssues(await extend(seconds), [['seconds']]);
  });

  test('answers APP_NOT_FOUND for an application that does not exist', async () => {
    expectRefused(await extend(60, nobodysId), 'APP_NOT_FOUND');
  });
});

describe('setLicenseTier', () => {
  const setTier = (id: string, subscriptionTier: number) =>
    world.graphql.request(SetLicenseTierDocument, { input: { id, subscriptionTier } });

  test('answers the license with its new tier, which clients get at once', async () => {
    const { id, licenseKey } = await application.mintOne({ subscriptionTier: 1 });
    expect(await validate(licenseKey)).toMatchObject({ subscriptionTier: 1 });
    const { license } = payloadOf(await setTier(id, 5), 'setLicenseTier');
    expect(license).toMatchObject({
      id,
      subscriptionTier: 5,
      status: 'active',
      application: { id: application.id },
    });
    expect(await validate(licenseKey)).toMatchObject({ subscriptionTier: 5 });
  });

  test('refuses a negative tier, and a license that is not there', async () => {
    const { id } = await application.mintOne();
    expectIssues(await setTier(id, -1), [['subscriptionTier']]);
    expectRefused(await setTier(nobodysId, 1), 'LICENSE_NOT_FOUND');
    expectRefused(await setTier('no-uuid', 1), 'LICENSE_NOT_FOUND');
  });
});

describe('resetLicenseHwid', () => {
  const reset = (id: string) => world.graphql.request(ResetLicenseHwidDocument, { input: { id } });

  test('answers the license without a device; the next one is bound', async () => {
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
    await validate(licenseKey, 'old');
    const before = await licenseOf(id);
    const { license } = payloadOf(await reset(id), 'resetLicenseHwid');
    expect(license).toEqual({ ...before, hwid: null });
    expect(await validate(licenseKey, 'new')).toMatchObject({ code: 'OK' });
    expect(await validate(licenseKey, 'old')).toMatchObject({ code: 'HWID_MISMATCH' });
  });

  test('answers what stands against it', async () => {
    const { id } = await application.mintOne();
    expectRefused(await reset(id), 'HWID_NOT_SET');
    await world.client.post(`/api/v1/licenses/${id}/ban`);
    expectRefused(await reset(id), 'LICENSE_BANNED');
    expectRefused(await reset(nobodysId), 'LICENSE_NOT_FOUND');
  });
});

describe('deleteLicense', () => {
  const remove = (id: string) => world.graphql.request(DeleteLicenseDocument, { input: { id } });

  test('answers the id it had; its users stay, without one', async () => {
    const { id, licenseKey } = await application.mintOne();
    const [user] = await insertUsers(server, application.id, [{ license_id: id }]);
    expect(payloadOf(await remove(id), 'deleteLicense')).toEqual({ deletedLicenseId: id });
    const left = await world.graphql.request(EndUserDocument, { id: user?.id ?? '' });
    expect(payloadOf(left, 'endUser')).toMatchObject({ license: null, subscriptionTier: null });
    expect(await validate(licenseKey)).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
    expectRefused(await remove(id), 'LICENSE_NOT_FOUND');
    expectRefused(await world.graphql.request(LicenseDocument, { id }), 'LICENSE_NOT_FOUND');
  });
});

describe('several changes in one document', () => {
  test('are made one after the other, and a refused one leaves its neighbours as they are', async () => {
    const { id } = await application.mintOne();
    const answer = await world.graphql.ask(
      `mutation ($id: ID!, $nobody: ID!) {
        first: setLicenseTier(input: { id: $id, subscriptionTier: 1 }) { license { subscriptionTier } }
        refused: setLicenseTier(input: { id: $nobody, subscriptionTier: 2 }) { license { subscriptionTier } }
        last: setLicenseTier(input: { id: $id, subscriptionTier: 3 }) { license { subscriptionTier } }
      }`,
      { id, nobody: nobodysId },
    );
    expectRefused(answer, 'LICENSE_NOT_FOUND');
    expect(answer.errors[0]?.path).toEqual(['refused']);
    expect(answer.data).toEqual({
      first: { license: { subscriptionTier: 1 } },
      refused: null,
      last: { license: { subscriptionTier: 3 } },
    });
  });
});
