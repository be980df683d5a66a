import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readMigrations } from '../../src/db/migrations.ts';
import { newId } from '../../src/lib/ids.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

test.each(databaseKinds)(
  'licenses that expire after the year 9999 expire at its end, on %s',
  async (kind) => {
    const { pool, close } = await createTestDatabase(kind);
    try {
      const name = 'end_licenses_within_four_digit_years';
      const migration = (await readMigrations()).find((each) => each.name.endsWith(name));
      await pool.query(
        `DROP TRIGGER licenses_end_within_four_digit_years ON licenses;
       DROP FUNCTION end_license_within_four_digit_years`,
      );
      const [developerId, applicationId] = [newId(), newId()];
      await pool.query(
        `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1, 'a', 'a', 'a', '$argon2id$')`,
        [developerId],
      );
      await pool.query(
        `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted) VALUES ($1, $2, 'a', $3, $4)`,
        [applicationId, developerId, randomBytes(32), randomBytes(60)],
      );
      const insert = (ends: readonly string[]) =>
        pool.query(
          `INSERT INTO licenses (id, application_id, key_hash, key_prefix, status, activated_at, expires_at)
         SELECT gen_random_uuid(), $1, sha256(convert_to(ends, 'UTF8')), '', 'active', '2026-01-01Z', ends::timestamptz
         FROM unnest($2::text[]) AS ends`,
          [applicationId, ends],
        );
      await insert([
        '294276-12-31T23:59:59Z',
        '10000-01-01T00:00:00Z',
        '9999-12-31T23:59:59Z',
        '2030-01-01T00:00:00Z',
      ]);
      await pool.query(migration?.sql ?? '');
      await insert(['11028-01-01T00:00:00Z', '9999-12-31T23:59:58Z']);
      const { rows } = await pool.query<{ ends: Date }>('SELECT expires_at AS ends FROM licenses ORDER BY 1');
      expect(rows.map(({ ends }) => ends.toISOString())).toEqual([
        '2030-01-01T00:00:00.000Z',
        '9999-12-31T23:59:58.000Z',
        ...Array(4).fill('9999-12-31T23:59:59.000Z'),
      ]);
      const counted = await pool.query('SELECT sum(change)::int AS sum FROM license_count_changes');
      expect(counted.rows).toEqual([{ sum: 6 }]);
    } finally {
      await close();
    }
  },
);
