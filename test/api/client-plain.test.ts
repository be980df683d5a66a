import { describe, expect, test } from 'vitest';
import { clientPaths } from '../../src/protocol/constants.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type ClientVerbName, clientVerbs, type Members, stateBesideLog } from '../setup/end-users.ts';
import { insertBan } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';

const { server, world } = useWorld({ env: { CRYPTO_ENFORCE: 'false' } });

const password = 'correct horse battery';

const plain = (verb: ClientVerbName, application: SeededApplication, members: Members) =>
  new ApiClient(server.baseUrl).post(clientPaths[verb], { appId: application.id, ...members });

describe('if CRYPTO_ENFORCE is false', () => {
  test('plain register, login and upgrade succeed with the fields of the sealed ones', async () => {
    const application = await world.createApplication();
    await application.settings({ responseMessages: { OK: 'Come in.' } });
    const { id, licenseKey } = await application.mintOne({ subscriptionTier: 1 });
    const higher = await application.mintOne({ subscriptionTier: 2 });
    const clientVersion = application.version;
    const asked: [ClientVerbName, Members, string][] = [
      ['register', { username: 'ada', password, licenseKey, hwid: 'device', clientVersion }, id],
      ['login', { username: 'ada', password, hwid: 'device' }, id],
      ['upgrade', { username: 'ada', licenseKey: higher.licenseKey, hwid: 'device' }, higher.id],
    ];
    for (const [verb, members, licenseId] of asked) {
      const client = new ApiClient(server.baseUrl);
      const answer = await client.post(clientPaths[verb], { appId: application.id, ...members });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        success: true,
        code: 'OK',
        message: 'Come in.',
        sessionToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        expiresAt: expect.stringMatching(/Z$/),
        user: { id: expect.any(String), username: 'ada', email: null, applicationId: application.id },
        license: {
          id: licenseId,
          status: 'active',
          expiresAt: null,
          subscriptionTier: verb === 'upgrade' ? 2 : 1,
        },
        session: { ip: client.ip, hwid: 'device' },
      });
    }
  });

  test('each refusal has its status, and the developer’s message as error', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne({ subscriptionTier: 1 });
    const foreign = await (await world.createApplication()).mintOne();
    const banned = await application.mintOne({ subscriptionTier: 9 });
    expect((await world.client.post(`/api/v1/licenses/${banned.id}/ban`)).status).toBe(200);
    await insertBan(server, application.id, 'hwid', 'stolen');
    const ada = { username: 'ada', password, licenseKey, hwid: 'device' };
    expect((await plain('register', application, ada)).status).toBe(200);
    const bob = { ...ada, username: 'bob' };
    const cases: [ClientVerbName, Members, number, string][] = [
      ['register', { ...bob, licenseKey: undefined }, 400, 'LICENSE_REQUIRED'],
      ['register', { ...bob, licenseKey: 'no such key' }, 404, 'LICENSE_NOT_FOUND'],
      ['register', { ...bob, licenseKey: banned.licenseKey }, 403, 'BANNED'],
      ['register', { ...bob, hwid: 'other' }, 403, 'HWID_MISMATCH'],
      ['register', { ...bob, hwid: 'stolen' }, 403, 'HWID_BANNED'],
      ['register', { ...bob, clientVersion: '0.9' }, 403, 'APP_OUTDATED'],
      ['register', ada, 409, 'USERNAME_TAKEN'],
      ['login', { ...ada, password: 'wrong' }, 401, 'INVALID_CREDENTIALS'],
      ['login', { ...ada, username: 'eve' }, 401, 'INVALID_CREDENTIALS'],
      ['upgrade', { ...ada, username: 'eve' }, 404, 'USER_NOT_FOUND'],
      ['upgrade', ada, 403, 'TIER_NOT_HIGHER'],
    ];
    const texts = Object.fromEntries(cases.map(([, , , code]) => [code, `Nö: ${code}`]));
    await application.settings({ responseMessages: texts });
    const before = await stateBesideLog(server);
    for (const [verb, members, status, code] of cases) {
      const answer = await plain(verb, application, members);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status,
        body: { success: false, code, error: `Nö: ${code}` },
      });
    }
    expect(await plain('upgrade', application, { ...ada, licenseKey: foreign.licenseKey })).toMatchObject({
      status: 403,
      body: { success: false, code: 'APP_MISMATCH' },
    });
    expect(await stateBesideLog(server)).toEqual(before);
    await application.settings({
      registrationEnabled: false,
      responseMessages: { REGISTER_DISABLED: 'Shut' },
    });
    expect(await plain('register', application, bob)).toMatchObject({
      status: 403,
      body: { success: false, code: 'REGISTER_DISABLED', error: 'Shut' },
    });
  });

  test.each(clientVerbs)('a plain %s of a wrong shape or application is refused', async (verb) => {
    const application = await world.createApplication();
    const malformed = await plain(verb, application, { username: '', password, licenseKey: 'x' });
    expect(malformed).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', issues: [{ path: ['username'] }] },
    });
    const members = { username: 'ada', password, licenseKey: 'x' };
    const nowhere = { ...application, id: '00000000-0000-7000-8000-000000000000' };
    expect(await plain(verb, nowhere, members)).toMatchObject({
      status: 404,
      body: { success: false, code: 'APP_NOT_FOUND' },
    });
  });
});
