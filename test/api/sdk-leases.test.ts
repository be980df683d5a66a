import { expect, test } from 'vitest';
import { z } from 'zod';
import { type ClientOptions, type ClientStore, createClient } from '../../src/sdk/index.ts';
import { storedLog } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { noLimits } from './support.ts';

// The SDK's offline leases with the service that issues them.

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));
const application = forTest(async () => {
  const made = await world.createApplication();
  await made.settings({ leasesEnabled: true });
  return made;
});

const hwid = 'device-1';
const fromService = { kind: 'verdict', valid: true, source: 'service' };
const fromLease = { kind: 'verdict', valid: true, source: 'lease', leaseExpiresAt: expect.any(Date) };

/** A program whose network can be taken away, with a store that outlives it. */
function program(of: SeededApplication) {
  const texts = new Map<string, string>();
  const store: ClientStore = {
    read: async (name) => texts.get(name) ?? null,
    write: async (name, text) => void texts.set(name, text),
  };
  const network = { isUp: true };
  const options: ClientOptions = {
    baseUrl: server.baseUrl,
    appId: of.id,
    publicKeyB64: of.publicKeyB64,
    version: of.version,
    now: () => server.clock.now(),
    leases: true,
    store,
    fetch: (input, init) => (network.isUp ? fetch(input, init) : Promise.reject(new Error('no network'))),
  };
  return { network, texts, start: () => createClient(options) };
}

const ban = async ({ id }: SeededLicense) =>
  expect((await world.client.post(`/api/v1/licenses/${id}/ban`)).status).toBe(200);

test('a program continues without the network, also after it was started again', async () => {
  const { licenseKey } = await application.mintOne({ subscriptionTier: 3 });
  const { network, start } = program(application);
  expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromService);
  network.isUp = false;
  expect(await start().validate(licenseKey, { hwid })).toMatchObject({ ...fromLease, subscriptionTier: 3 });
  expect(await start().validate(licenseKey, { hwid: 'device-2' })).toMatchObject({ lease: 'none' });
});

test('a ban ends that once the program has heard of it', async () => {
  const license = await application.mintOne();
  const { network, start } = program(application);
  await start().validate(license.licenseKey, { hwid });
  await ban(license);
  expect(await start().validate(license.licenseKey, { hwid })).toMatchObject({
    valid: false,
    code: 'BANNED',
  });
  network.isUp = false;
  expect(await start().validate(license.licenseKey, { hwid })).toMatchObject({ lease: 'none' });
});

test('a ban ends that by the revocation list', async () => {
  const license = await application.mintOne();
  const { network, start } = program(application);
  await start().validate(license.licenseKey, { hwid });
  await ban(license);
  expect(await start().leases.fetchRevocations()).toMatchObject({ kind: 'revocations' });
  network.isUp = false;
  expect(await start().validate(license.licenseKey, { hwid })).toMatchObject({ lease: 'revoked' });
});

test('an earlier state of the store is noticed by the service', async () => {
  const { licenseKey } = await application.mintOne();
  const { texts, start } = program(application);
  await start().validate(licenseKey, { hwid });
  const earlier = new Map(texts);
  server.clock.step(4 * 86_400);
  try {
    expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromService);
    for (const [name, text] of earlier) texts.set(name, text);
    expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromService);
    await expect.poll(() => storedLog(server, application.id, 'lease_rolled_back')).toHaveLength(1);
  } finally {
    server.clock.step(-4 * 86_400);
  }
});

test('an application that stops issuing leases is validated as before, and ends no lease', async () => {
  const { licenseKey } = await application.mintOne();
  const { network, start } = program(application);
  await start().validate(licenseKey, { hwid });
  await application.settings({ leasesEnabled: false });
  server.clock.step(4 * 86_400);
  try {
    expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromService);
    network.isUp = false;
    expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromLease);
  } finally {
    server.clock.step(-4 * 86_400);
  }
});

test('a device without a network gets a lease by its device request', async () => {
  const { id, licenseKey } = await application.mintOne();
  const { network, start } = program(application);
  network.isUp = false;
  const deviceRequest = await start().leases.deviceRequest(hwid);
  const issued = await world.client.post(`/api/v1/licenses/${id}/offline-lease`, { deviceRequest });
  const { lease } = z.object({ lease: z.string() }).parse(issued.body);
  expect(await start().leases.importLease(`${lease}\n`, { licenseKey, hwid })).toMatchObject(fromLease);
  expect(await start().validate(licenseKey, { hwid })).toMatchObject(fromLease);
  expect(await start().leases.importLease(lease, { licenseKey, hwid })).toMatchObject({
    lease: 'not-requested',
  });
});
