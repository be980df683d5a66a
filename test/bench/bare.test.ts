import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { hashPassword } from '../../src/crypto/password.ts';
import { createSigner } from '../../src/crypto/signer.ts';
import { createClient } from '../../src/sdk/index.ts';
import type { BareMaterial } from './bare/material.ts';
import { createBareServer } from './bare/server.ts';
import { numberedLicense } from './numbered.ts';

/** What the bare program leaves out must not be what a client checks: it would be a measure of nothing. */

const seed = randomBytes(32);
const publicKeyB64 = Buffer.from(createSigner(seed).publicKey).toString('base64');
const answer = {
  message: 'License is valid.',
  expiresAt: '2027-01-01T00:00:00.000Z',
  status: 'active',
  subscriptionTier: 3,
};
const appId = '01a1f9ca-9460-72c7-be51-8276f9723da9';

async function startBareServer(more: Partial<BareMaterial> = {}, protocol: 1 | 2 = 1) {
  const server = createBareServer({
    appId,
    seedB64: seed.toString('base64'),
    licenseKeys: ['KEY-1'],
    numberedLicenses: 10,
    answer,
    sessionIdBytes: 86,
    passwordHash: await hashPassword('correct horse battery', 'bench'),
    ...more,
  }).listen(0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    appId,
    publicKeyB64,
    version: '1.0.0',
    protocol,
    store: null,
  });
}

test.each([
  ['KEY-1', 1],
  [numberedLicense(9).licenseKey, 1],
  ['KEY-1', 2],
  [numberedLicense(9).licenseKey, 2],
] as const)('the SDK takes its verdict on %s for true, over version %d', async (key, protocol) => {
  const client = await startBareServer({}, protocol);
  const { expiresAt, ...verdict } = answer;
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await client.validate(key, { hwid: 'laptop' })).toEqual({
      kind: 'verdict',
      source: 'service',
      valid: true,
      code: 'OK',
      ...verdict,
      expiresAt: new Date(expiresAt),
      graceEndsAt: null,
      entitlements: {},
      metadata: {},
    });
  }
});

test('the SDK takes its login for true', async () => {
  const client = await startBareServer();
  const outcome = await client.login({ username: 'ada', password: 'correct horse battery', hwid: 'laptop' });
  expect(outcome).toMatchObject({ kind: 'verdict', valid: true, user: { username: 'ada' } });
});

test.each([1, 2] as const)(
  'it signs with the key that it was given, and no other, over version %d',
  async (protocol) => {
    const client = await startBareServer({ seedB64: randomBytes(32).toString('base64') }, protocol);
    expect(await client.validate('KEY-1')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  },
);
