import { randomBytes } from 'node:crypto';
import { newId } from '../../src/lib/ids.ts';
import type { TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';

/** Rows that a test needs by the dozen or the thousand, stored as the service would, without a request for each. */

/** Stores rows, all with the same columns, and answers them, oldest first. */
async function insert<Row extends Readonly<Record<string, unknown>>>(
  server: TestServer,
  table: string,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  if (columns === '') return rows;
  await sql(
    server,
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
  return rows;
}

const bytes = (length: number) => `\\x${randomBytes(length).toString('hex')}`;
const listOf = <Row>(amount: number, make: (index: number) => Row): Row[] =>
  Array.from({ length: amount }, (_, index) => make(index));

export interface LicenseRow {
  readonly status?: 'unused' | 'active' | 'banned';
  readonly activated_at?: string | null;
  readonly expires_at?: string | null;
  readonly duration_seconds?: number;
  readonly subscription_tier?: number;
  readonly hwid?: string | null;
  readonly device_hash?: string | null;
  readonly note?: string | null;
  readonly policy_id?: string | null;
  readonly tags?: readonly string[];
  readonly metadata?: object | null;
  readonly suspended_at?: string | null;
  readonly clock_stopped_at?: string | null;
}

/** Licenses of an application; unused ones unless told. */
export const insertLicenses = (server: TestServer, applicationId: string, licenses: readonly LicenseRow[]) =>
  insert(
    server,
    'licenses',
    licenses.map((fields) => ({
      id: newId(),
      application_id: applicationId,
      key_hash: bytes(32),
      key_prefix: 'ABCDEF',
      status: 'unused',
      activated_at: null,
      expires_at: null,
      duration_seconds: 0,
      subscription_tier: 0,
      hwid: null,
      note: null,
      ...fields,
    })),
  );

/** End users of an application, with what is said of each; nobody knows their passwords. */
export const insertUsers = (
  server: TestServer,
  applicationId: string,
  users: readonly { license_id?: string | null; last_hwid?: string | null; username?: string }[],
) =>
  insert(
    server,
    'end_users',
    users.map((fields) => {
      const id = newId();
      return {
        id,
        application_id: applicationId,
        username: `user-${id}`,
        password_hash: '$argon2id$nobody',
        license_id: null,
        last_hwid: null,
        ...fields,
      };
    }),
  );

/** Active devices of licenses. Each has a HWID of its own unless told. */
export const insertDevices = (
  server: TestServer,
  devices: readonly { license_id: string; hwid?: string }[],
) =>
  insert(
    server,
    'devices',
    devices.map((fields) => {
      const id = newId();
      const now = new Date().toISOString();
      return {
        id,
        hwid: `device-${id}`,
        first_seen_at: now,
        last_seen_at: now,
        may_return: false,
        ...fields,
      };
    }),
  );

/** Bans of an application. Those of one kind have values of their own. */
export const insertBans = (
  server: TestServer,
  applicationId: string,
  bans: readonly { source_license_id?: string | null; ban_type?: 'hwid' | 'ip'; value?: string }[],
) =>
  insert(
    server,
    'bans',
    bans.map((fields) => {
      const id = newId();
      const value = `device-${id}`;
      return {
        id,
        application_id: applicationId,
        ban_type: 'hwid',
        value,
        source_license_id: null,
        ...fields,
      };
    }),
  );

export interface LogEntryRow {
  readonly application_id?: string | null;
  readonly event?: string;
  readonly code?: string | null;
  readonly license_id?: string | null;
  readonly user_id?: string | null;
  readonly hwid?: string | null;
  readonly created_at?: string;
}

/** Entries of a developer's security log. */
export const insertLogEntries = (server: TestServer, developerId: string, entries: readonly LogEntryRow[]) =>
  insert(
    server,
    'security_log',
    entries.map((fields) => ({
      id: newId(),
      developer_id: developerId,
      application_id: null,
      event: 'license_validated',
      code: 'OK',
      license_id: null,
      user_id: null,
      hwid: null,
      metadata: {},
      created_at: new Date(server.clock.now()).toISOString(),
      ...fields,
    })),
  );

/** API keys of a developer. */
export const insertApiKeys = (server: TestServer, developerId: string, amount: number) =>
  insert(
    server,
    'api_keys',
    listOf(amount, (index) => ({
      id: newId(),
      developer_id: developerId,
      name: `key ${index}`,
      key_hash: bytes(32),
      key_prefix: 'service_live_ABCD',
    })),
  );

/** Applications of a developer; nothing can be signed with their keys. */
export const insertApplications = (server: TestServer, developerId: string, amount: number) =>
  insert(
    server,
    'applications',
    listOf(amount, (index) => ({
      id: newId(),
      developer_id: developerId,
      name: `Application ${index}`,
      public_key: bytes(32),
      private_key_encrypted: bytes(60),
    })),
  );
