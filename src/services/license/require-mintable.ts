import type { Prisma } from '../../db/client.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { defaultMask } from './mask.ts';

/**
 * Checks that the application belongs to the developer and that the service may generate its keys.
 * @returns the mask of the account, and the default if it has none
 * @throws {ServiceError} APP_NOT_FOUND, PRIVATE_MODE
 */
export async function requireMintable(
  transaction: Prisma.TransactionClient,
  developerId: string,
  applicationId: string,
): Promise<string> {
  // The lock prevents deletion of the application until the commit.
  const [account] = await transaction.$queryRaw<{ licenseMask: string | null; keyCreationMode: string }[]>`
    SELECT developers.license_mask AS "licenseMask", developers.key_creation_mode::text AS "keyCreationMode"
    FROM applications JOIN developers ON developers.id = applications.developer_id
    WHERE applications.id = ${applicationId}::uuid AND applications.developer_id = ${developerId}::uuid
    FOR KEY SHARE OF applications`;
  if (account === undefined) throw applicationNotFound();
  if (account.keyCreationMode === 'private') {
    throw new ServiceError(
      'PRIVATE_MODE',
      'This account is in private mode: generate keys in the browser and send their hashes to create-blind.',
    );
  }
  return account.licenseMask ?? defaultMask;
}
