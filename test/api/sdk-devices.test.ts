import { describe, expect, test } from 'vitest';
import { type ClientOptions, type ClientStore, createClient } from '../../src/sdk/index.ts';
import { randomIp } from '../setup/api-client.ts';
import { setSelfService, storedDevices } from '../setup/self-service.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { noLimits } from './support.ts';

// What the SDK does about devices, with the service itself.

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

/** A program with a store, from a separate address, whose network can be taken away. */
function program(options: Partial<ClientOptions> = {}) {
  const ip = randomIp();
  const texts = new Map<string, string>();
  const store: ClientStore = {
    read: async (name) => texts.get(name) ?? null,
    write: async (name, text) => void texts.set(name, text),
  };
  const network = { isUp: true };
  const client = createClient({
    baseUrl: server.baseUrl,
    appId: application.id,
    publicKeyB64: application.publicKeyB64,
    version: application.version,
    now: () => server.clock.now(),
    store,
    ...options,
    fetch: (input, init) => {
      if (!network.isUp) return Promise.reject(new Error('no network'));
      const headers = new Headers(init?.headers);
      headers.set('X-Forwarded-For', ip);
      return fetch(input, { ...init, headers });
    },
  });
  return { client, network };
}

describe.each([1, 2] as const)('in version %i,', (protocol) => {
  test('a license is listed, moved and released, and the cooldown has its end', async () => {
    const { id, licenseKey } = await application.mintOne();
    await setSelfService([server], id, { cooldownSeconds: 600 });
    const labels = { deviceName: 'Old one', platform: 'Linux' };
    const { client: old } = program({ protocol, ...labels });
    expect(await old.validate(licenseKey, { hwid: 'old' })).toMatchObject({ valid: true });
    expect(await storedDevices(server, id)).toMatchObject([{ name: 'Old one', platform: 'Linux' }]);

    const { client } = program({ protocol, deviceName: 'New one' });
    const list = await client.devices.list({ licenseKey, hwid: 'new' });
    if (list.kind === 'failure' || !list.valid) expect.fail(list.message);
    expect(list).toMatchObject({ deviceLimit: 1, next: null, nextMoveAt: null });
    expect(list.devices).toMatchObject([{ name: 'Old one', current: false }]);
    const releaseDeviceId = list.devices[0]?.id;
    const moved = await client.devices.move({ licenseKey, hwid: 'new', releaseDeviceId });
    if (moved.kind === 'failure' || !moved.valid) expect.fail(moved.message);
    expect(moved).toMatchObject({ releasedDeviceId: releaseDeviceId, nextMoveAt: expect.any(Date) });
    expect(await client.validate(licenseKey, { hwid: 'new' })).toMatchObject({ valid: true });
    const refused = { valid: false, code: 'DEVICE_RELEASED', releasedAt: expect.any(Date) };
    expect(await old.validate(licenseKey, { hwid: 'old' })).toMatchObject(refused);
    const again = { licenseKey, deviceId: moved.deviceId };
    expect(await client.devices.release(again)).toMatchObject({
      valid: false,
      code: 'MOVE_COOLDOWN',
      retryAt: moved.nextMoveAt,
    });
  });

  test('entitlements, metadata for the program and a grace arrive', async () => {
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 600 });
    const { client } = program({ protocol });
    expect(await client.validate(licenseKey)).toMatchObject({ entitlements: {}, metadata: {} });
    await sql(
      server,
      `UPDATE licenses SET entitlements = '{"export.pdf": true, "seats": 5}', grace_seconds = 600,
         metadata = '{"client": {"channel": "beta"}, "private": {"crm": "secret"}}', expires_at = $2 WHERE id = $1`,
      [id, new Date(server.clock.now() - 1_000)],
    );
    await setSelfService([server], id, {});
    const verdict = await client.validate(licenseKey);
    expect(verdict).toMatchObject({
      valid: true,
      entitlements: { 'export.pdf': true, seats: 5 },
      metadata: { channel: 'beta' },
    });
    if (verdict.kind === 'failure' || !verdict.valid) expect.fail(verdict.message);
    expect(Number(verdict.graceEndsAt) - Number(verdict.expiresAt)).toBe(600_000);
    expect(JSON.stringify(verdict)).not.toContain('secret');
  });
});

test('a program that released its own device uses its lease no more', async () => {
  await application.settings({ leasesEnabled: true });
  const { id, licenseKey } = await application.mintOne();
  await setSelfService([server], id, {});
  const { client, network } = program({ leases: true });
  await client.validate(licenseKey, { hwid: 'laptop' });
  network.isUp = false;
  expect(await client.validate(licenseKey, { hwid: 'laptop' })).toMatchObject({ source: 'lease' });
  network.isUp = true;
  const [device] = await storedDevices(server, id);
  const asked = { licenseKey, hwid: 'laptop', deviceId: device?.id ?? '' };
  expect(await client.devices.release(asked)).toMatchObject({ valid: true });
  network.isUp = false;
  const after = await client.validate(licenseKey, { hwid: 'laptop' });
  expect(after).toMatchObject({ kind: 'failure', lease: 'none' });
});
