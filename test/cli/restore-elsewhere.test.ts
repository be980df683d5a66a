/** @module-tag slow */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serverUrl } from '../setup/database.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { freshDirectory, freshServerDatabase, query, seed, succeed } from './places.ts';

// Restores into a server with another configuration: by a role with rights to its own database only, and with another
// collation.

const long = 180_000;
const contentOf = async (file: string): Promise<string[]> =>
  gunzipSync(await readFile(file))
    .toString('utf8')
    .split('\n')
    .slice(1, -2)
    .toSorted();

const orders = {
  C: "LOCALE 'C'",
  'the system, C.UTF-8': "LOCALE 'C.UTF-8'",
  'German, by ICU': "LOCALE_PROVIDER icu ICU_LOCALE 'de-DE' LOCALE 'C.UTF-8'",
  'German of telephone books, by ICU': "LOCALE_PROVIDER icu ICU_LOCALE 'de-u-co-phonebk' LOCALE 'C.UTF-8'",
  'German, by the system': "LOCALE 'de_DE.UTF-8'",
} as const;

/** An empty database of an unprivileged role; null if the server lacks the collation. */
async function ofOrdinaryRole(order: string): Promise<string | null> {
  const name = `latchkey_test_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl ?? '' });
  await admin.connect();
  onTestFinished(() => admin.end());
  await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD 'x' NOSUPERUSER NOCREATEDB NOCREATEROLE`);
  onTestFinished(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.query(`DROP ROLE ${name}`);
  });
  try {
    await admin.query(`CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0 ENCODING 'UTF8' ${order}`);
  } catch (error) {
    if (
      error instanceof pg.DatabaseError &&
      /invalid .*locale|not valid|ICU is not supported/.test(error.message)
    ) {
      return null;
    }
    throw error;
  }
  const url = new URL(serverUrl ?? '');
  Object.assign(url, { username: name, password: 'x', pathname: `/${name}` });
  return url.href;
}

describe.skipIf(serverUrl === null)('a backup restored by an unprivileged role', () => {
  test.each(Object.entries(orders))(
    'into a database with the collation %s is unchanged and can be served',
    async (name, order) => {
      const target = await ofOrdinaryRole(order);
      if (target === null) {
        process.stderr.write(`Skipped: a restore into an order by ${name}, which this server lacks.\n`);
        return;
      }
      const source = await freshServerDatabase();
      await succeed(['migrate'], { DATABASE_URL: source });
      await query(source, seed(50));
      await query(
        source,
        `INSERT INTO api_keys (id, developer_id, name, key_hash, key_prefix)
         SELECT gen_random_uuid(), '01a1f9ca-93fa-7499-96a1-742319220050', each, sha256(convert_to(each, 'UTF8')), 'x'
         FROM unnest(ARRAY['strasse', 'straße', 'Ärger', 'arger', 'Zebra', 'a-b', 'ab', 'i', 'ı', 'İ']) AS each`,
      );
      const directory = await freshDirectory();
      const [file, again] = [join(directory, 'a.backup'), join(directory, 'b.backup')];
      await succeed(['backup', file], { DATABASE_URL: source });
      const env = { DATABASE_URL: target };
      await succeed(['restore', file], env);
      await succeed(['backup', again], env);
      expect(await contentOf(again)).toEqual(await contentOf(file));

      // No secret decrypts these applications: without them, a service starts and creates its own.
      await query(target, 'DELETE FROM applications');
      const server = await startTestServer({
        database: 'memory',
        env: { ...env, SERVICE_SECRET: randomBytes(32).toString('base64') },
      });
      try {
        const application = await (await createWorld(server)).createApplication();
        expect((await application.mintOne()).licenseKey).toMatch(/-/);
      } finally {
        await server.close();
      }
    },
    long,
  );
});
