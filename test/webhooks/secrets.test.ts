import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { openWebhookSecrets, sealWebhookSecrets } from '../../src/crypto/sealed-webhook-secrets.ts';
import { newId } from '../../src/lib/ids.ts';
import { countWebhookSecrets, resealWebhookSecrets } from '../../src/services/webhook/rotate-keys.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import { createWorld } from '../setup/world.ts';

const [old, now] = [randomBytes(32), randomBytes(32)];

test('secrets open only with their own id and master secret', () => {
  const [current, previous] = [randomBytes(32), randomBytes(32)];
  const id = newId();
  const keyring = createKeyring(old);
  const sealed = sealWebhookSecrets(keyring, id, { current, previous });
  expect(openWebhookSecrets(keyring, id, sealed)).toMatchObject({ isCurrent: true });
  expect(openWebhookSecrets(keyring, newId(), sealed)).toBeNull();
  expect(openWebhookSecrets(createKeyring(now), id, sealed)).toBeNull();
  const rotated = createKeyring(now, [{ secret: old, replacedAt: null }]);
  const opened = openWebhookSecrets(rotated, id, sealed);
  expect(opened?.isCurrent).toBe(false);
  expect(opened && [opened.current, opened.previous].map((secret) => Buffer.from(secret ?? []))).toEqual([
    current,
    previous,
  ]);
  const alone = sealWebhookSecrets(keyring, id, { current, previous: null });
  expect(openWebhookSecrets(keyring, id, alone)?.previous).toBeNull();
});

test('secrets outlive a rotation of the master secret', async () => {
  const server = await startTestServer({ env: { SERVICE_SECRET: old.toString('base64') } });
  try {
    const { client } = await createWorld(server);
    const { id, secret } = await createWebhook(client, { url: 'https://example.com/' });
    const { pool } = server.deps.services.database;
    const text = (bytes: Buffer) => Buffer.from(bytes.toString('base64'));
    const both = createKeyring(text(now), [{ secret: text(old), replacedAt: null }]);
    expect(await countWebhookSecrets(pool, createKeyring(text(now)))).toMatchObject({ unreadable: [id] });
    expect(await countWebhookSecrets(pool, both)).toMatchObject({ previous: 1, current: 0 });
    expect(await resealWebhookSecrets(pool, both)).toMatchObject({ rotated: 1 });
    const [row] = await sql<{ sealed: Uint8Array }>(
      server,
      'SELECT secrets_encrypted AS sealed FROM webhooks WHERE id = $1',
      [id],
    );
    const opened = openWebhookSecrets(createKeyring(text(now)), id, row?.sealed ?? new Uint8Array());
    expect(`whsec_${Buffer.from(opened?.current ?? []).toString('base64')}`).toBe(secret);
  } finally {
    await server.close();
  }
});
