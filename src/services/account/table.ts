import type { Prisma } from '../../db/client.ts';
import { columnsOf, type ListTable } from '../list-source.ts';

/** What a developer can be shown of the account: selected, so that the password's hash is never read. */
export const accountSelect = {
  id: true,
  keyCreationMode: true,
  licenseMask: true,
  vaultSaltB64: true,
  vaultCheckB64: true,
} as const satisfies Prisma.DeveloperSelect;

export type AccountRow = Prisma.DeveloperGetPayload<{ select: typeof accountSelect }>;

export const accountTable = {
  name: 'developers',
  columns: columnsOf('developers', accountSelect),
  fromJson: {},
  developerId: 'developers.id',
  applicationId: null,
  readScope: 'account:read',
} satisfies ListTable;
