import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey } from '../../crypto/sealed-private-key.ts';
import { createSigner } from '../../crypto/signer.ts';
import { isNotDeletedOwner } from '../../db/deleted-owners.ts';
import { type ResponseMessages, resolveMessages } from './messages.ts';

/** The facts about an application that a verdict depends on. */
export interface ApplicationFacts {
  readonly id: string;
  readonly status: 'active' | 'disabled';
  readonly version: string;
  readonly hwidLockEnabled: boolean;
  readonly protocol: 'any' | 'v2_only';
}

/** An application's data for client requests, as cached: with parsed key and resolved messages. */
export interface ApplicationSnapshot extends ApplicationFacts {
  readonly developerId: string;
  readonly requireLicenseToRegister: boolean;
  readonly registrationEnabled: boolean;
  readonly leasesEnabled: boolean;
  /** The term of a lease. */
  readonly leaseDays: number;
  readonly messages: ResponseMessages;
  readonly signer: ReturnType<typeof createSigner>;
}

interface Row extends ApplicationFacts {
  readonly developerId: string;
  readonly requireLicenseToRegister: boolean;
  readonly registrationEnabled: boolean;
  readonly leasesEnabled: boolean;
  readonly leaseDays: number;
  readonly responseMessages: unknown;
  readonly privateKeyEncrypted: Buffer;
}

/** Loads an application; null if it does not exist. @throws {PrivateKeyUnreadableError} */
export async function loadApplicationSnapshot(
  pool: Pool,
  keyring: Keyring,
  applicationId: string,
): Promise<ApplicationSnapshot | null> {
  const { rows } = await pool.query<Row>(
    `SELECT id, developer_id AS "developerId", status::text AS status, version,
       hwid_lock_enabled AS "hwidLockEnabled", require_license_to_register AS "requireLicenseToRegister",
       registration_enabled AS "registrationEnabled", protocol::text AS protocol,
       leases_enabled AS "leasesEnabled", lease_days AS "leaseDays", response_messages AS "responseMessages",
       private_key_encrypted AS "privateKeyEncrypted"
     FROM applications WHERE id = $1 AND EXISTS (
       SELECT FROM developers WHERE developers.id = applications.developer_id AND ${isNotDeletedOwner})`,
    [applicationId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { responseMessages, privateKeyEncrypted, ...facts } = row;
  return {
    ...facts,
    messages: resolveMessages(responseMessages),
    signer: createSigner(openPrivateKey(keyring, row.id, privateKeyEncrypted)),
  };
}
