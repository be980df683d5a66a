import type { ListTable } from '../list-source.ts';

/** The account's readable columns; the password hash is not among them. */
export const accountTable = {
  name: 'developers',
  columns: {
    id: 'developers.id',
    keyCreationMode: 'developers.key_creation_mode::text',
    licenseMask: 'developers.license_mask',
    vaultSaltB64: 'developers.vault_salt_b64',
    vaultCheckB64: 'developers.vault_check_b64',
  },
  fromJson: {},
  developerId: 'developers.id',
} as const satisfies ListTable;
