import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { licenseCacheKey } from '../../src/services/changes/change.ts';
import { noLimits } from '../api/support.ts';
import { logStatements } from '../setup/statements.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';

const server = useServer({ env: noLimits });

async function minted(amount: number) {
  const application = await (await createWorld(server)).createApplication();
  return (await application.mint({ amount })).map(({ id, licenseKey }) => ({ id, hash: sha256(licenseKey) }));
}

test('concurrent look-ups share one statement, and each gets its own license', async () => {
  const { caches, database } = server.deps.services;
  const licenses = await minted(20);
  const unknown = sha256('there is no such key');
  const statements = logStatements(database.pool);
  const found = await Promise.all(
    [...licenses.map(({ hash }) => hash), unknown].map((hash) => caches.license(hash)),
  );
  expect(found.map((license) => license?.id ?? null)).toEqual([...licenses.map(({ id }) => id), null]);
  expect(statements.take().filter((text) => /FROM licenses/.test(text))).toHaveLength(1);
});

test('more look-ups than fit into one statement use several', async () => {
  const { caches, database } = server.deps.services;
  const licenses = await minted(501);
  const statements = logStatements(database.pool);
  const found = await Promise.all(licenses.map(({ hash }) => caches.license(hash)));
  expect(found.map((license) => license?.id)).toEqual(licenses.map(({ id }) => id));
  expect(statements.take().filter((text) => /FROM licenses/.test(text))).toHaveLength(2);
});

test('a look-up during a statement sees changes committed by then', async () => {
  const { caches, changes, database } = server.deps.services;
  const [license] = await minted(1);
  if (license === undefined) throw new Error('nothing was minted');
  const before = caches.license(license.hash);
  // The first look-up has been sent: its result is from before the change.
  await new Promise(setImmediate);
  await database.pool.query('UPDATE licenses SET subscription_tier = 7 WHERE id = $1', [license.id]);
  await changes.tell([{ cache: 'license', keys: [licenseCacheKey(license.hash)] }]);
  const after = await caches.license(license.hash);
  expect(after?.subscriptionTier).toBe(7);
  await before;
  expect((await caches.license(license.hash))?.subscriptionTier).toBe(7);
});
