import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

type Row = Record<string, unknown>;

describe.each(databaseKinds)('the database itself, on %s,', (kind) => {
  let database: Database;
  const [developer, application, user] = [randomUUID(), randomUUID(), randomUUID()];

  /** A valid row of each table. Each test changes one column to an invalid value. */
  const good: Record<string, () => Row> = {
    developers: () => ({
      email: 'A@b.c',
      email_normalized: randomUUID(),
      name: '',
      password_hash: '$argon2id$v=19$',
    }),
    api_keys: () => ({ developer_id: developer, name: '', key_hash: randomBytes(32), key_prefix: '' }),
    applications: () => ({
      developer_id: developer,
      name: 'a',
      public_key: randomBytes(32),
      private_key_encrypted: randomBytes(60),
    }),
    licenses: () => ({ application_id: application, key_hash: randomBytes(32), key_prefix: '' }),
    end_users: () => ({
      application_id: application,
      username: `u-${randomBytes(8).toString('hex')}`,
      password_hash: '$argon2id$v=19$',
    }),
    end_user_sessions: () => ({ end_user_id: user, token_hash: randomBytes(32), expires_at: new Date() }),
    bans: () => ({ application_id: application, ban_type: 'hwid', value: randomUUID() }),
    security_log: () => ({ developer_id: developer, event: 'test' }),
  };

  async function insert(table: string, row: Row): Promise<void> {
    const columns = Object.entries({ id: randomUUID(), ...good[table]?.(), ...row });
    const names = columns.map(([name]) => name).join(', ');
    const places = columns.map((_, index) => `$${index + 1}`).join(', ');
    await database.pool.query(
      `INSERT INTO ${table} (${names}) VALUES (${places})`,
      columns.map(([, value]) => value),
    );
  }

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    await insert('developers', { id: developer });
    await insert('applications', { id: application });
    await insert('end_users', { id: user });
  });
  afterAll(() => database.close());

  it.each(Object.keys(good))('accepts a valid row of %s', (table) => insert(table, {}));

  const now = new Date();
  it.each<[table: string, constraint: string, row: Row]>([
    ['developers', 'developers_email_not_empty', { email: '' }],
    ['developers', 'developers_email_not_empty', { email_normalized: '' }],
    ['developers', 'developers_password_is_hashed', { password_hash: 'correct horse battery staple' }],
    ['developers', 'developers_session_version_not_negative', { session_version: -1 }],
    ['developers', 'developers_license_mask_not_empty', { license_mask: '' }],
    ['api_keys', 'api_keys_key_hash_is_sha256', { key_hash: randomBytes(31) }],
    ['applications', 'applications_name_not_empty', { name: '' }],
    ['applications', 'applications_version_not_empty', { version: '' }],
    ['applications', 'applications_response_messages_is_object', { response_messages: '[]' }],
    ['applications', 'applications_public_key_is_ed25519', { public_key: randomBytes(33) }],
    ['applications', 'applications_private_key_is_sealed', { private_key_encrypted: randomBytes(32) }],
    ['licenses', 'licenses_key_hash_is_sha256', { key_hash: Buffer.from('XXXXX-XXXXX') }],
    ['licenses', 'licenses_duration_not_negative', { duration_seconds: -1 }],
    ['licenses', 'licenses_tier_not_negative', { subscription_tier: -1 }],
    ['licenses', 'licenses_activated_unless_unused', { status: 'unused', activated_at: now }],
    ['licenses', 'licenses_activated_unless_unused', { status: 'active' }],
    ['licenses', 'licenses_expiry_follows_activation', { expires_at: now }],
    ['licenses', 'licenses_hwid_not_empty', { hwid: '' }],
    ['end_users', 'end_users_username_is_valid', { username: 'ab' }],
    ['end_users', 'end_users_username_is_valid', { username: 'a b c' }],
    ['end_users', 'end_users_username_is_valid', { username: 'abc\n' }],
    ['end_users', 'end_users_password_is_hashed', { password_hash: 'hunter22' }],
    ['end_user_sessions', 'end_user_sessions_token_hash_is_sha256', { token_hash: Buffer.alloc(0) }],
    ['bans', 'bans_value_not_empty', { value: '' }],
    ['security_log', 'security_log_event_not_empty', { event: '' }],
    ['security_log', 'security_log_country_is_alpha2', { country: 'Germany' }],
    ['security_log', 'security_log_metadata_is_object', { metadata: '"text"' }],
  ])('refuses a row of %s that violates %s: %o', async (table, constraint, row) => {
    await expect(insert(table, row)).rejects.toMatchObject({ code: '23514', constraint });
  });

  it.each([
    { status: 'active', activated_at: now, expires_at: now },
    { status: 'banned' },
    { status: 'banned', activated_at: now },
  ])('accepts a license that is %o', (row) => insert('licenses', row));
});
