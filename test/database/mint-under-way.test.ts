import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { newId } from '../../src/lib/ids.ts';
import { succeed } from '../cli/places.ts';
import { ensureTemplate, silent } from '../setup/database.ts';

beforeAll(ensureTemplate);

test('licenses of a mint whose process died are in no backup, and a start deletes only them', {
  tags: 'slow',
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'test-mint-'));
  const open = () => openDatabase({ kind: 'embedded', directory }, { log: silent });
  const [developerId, applicationId] = [newId(), newId()];
  const ids = Array.from({ length: 1_203 }, newId);
  try {
    const first = await open();
    await first.pool.query(
      `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1, 'a', 'a', 'a', '$argon2id$')`,
      [developerId],
    );
    await first.pool.query(
      `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted) VALUES ($1, $2, 'a', $3, $4)`,
      [applicationId, developerId, randomBytes(32), randomBytes(60)],
    );
    await first.pool.query(
      'INSERT INTO mint_under_way (application_id, amount, from_id, to_id) VALUES ($1, 5000, $2, $3)',
      [applicationId, ids[1], ids.at(-2)],
    );
    await first.pool.query(
      `INSERT INTO licenses (id, application_id, key_hash, key_prefix)
       SELECT id, $1, sha256(id::text::bytea), '' FROM unnest($2::uuid[]) AS id`,
      [applicationId, ids],
    );
    await first.close();

    const backup = join(directory, 'a.backup');
    const restored = join(directory, 'restored');
    await succeed(['backup', backup], { DATA_DIR: directory });
    await succeed(['restore', backup], { DATA_DIR: restored });
    for (const place of [restored, directory]) {
      const second = await openDatabase({ kind: 'embedded', directory: place }, { log: silent });
      const { rows } = await second.pool.query('SELECT id FROM licenses ORDER BY id');
      expect(rows, place).toEqual([{ id: ids[0] }, { id: ids.at(-1) }]);
      expect((await second.pool.query('SELECT FROM mint_under_way')).rowCount).toBe(0);
      const counted = await second.pool.query('SELECT sum(change)::int AS sum FROM license_count_changes');
      expect(counted.rows).toEqual([{ sum: 2 }]);
      await second.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
