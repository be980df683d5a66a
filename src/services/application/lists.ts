import { Prisma } from '../../db/client.ts';
import { bytes, type FromJsonOf, instant } from '../../db/from-json.ts';
import { type ListTable, listSource } from '../list-source.ts';
import type { ApplicationRow } from './view.ts';

/** An application's readable columns; the private key is not among them. */
export const applicationTable = {
  name: 'applications',
  columns: {
    id: 'applications.id',
    name: 'applications.name',
    version: 'applications.version',
    status: 'applications.status::text',
    hwidLockEnabled: 'applications.hwid_lock_enabled',
    requireLicenseToRegister: 'applications.require_license_to_register',
    registrationEnabled: 'applications.registration_enabled',
    responseMessages: 'applications.response_messages',
    publicKey: 'applications.public_key',
    createdAt: 'applications.created_at',
    updatedAt: 'applications.updated_at',
  } satisfies Record<keyof ApplicationRow, string>,
  fromJson: { publicKey: bytes, createdAt: instant, updatedAt: instant } satisfies FromJsonOf<ApplicationRow>,
  developerId: 'applications.developer_id',
} as const satisfies ListTable;

/** A developer's applications. */
export const applicationsOfDevelopers = listSource<object>({
  table: applicationTable,
  parentColumn: 'developer_id',
  matches: () => Prisma.sql`TRUE`,
});
