import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey } from '../../crypto/sealed-private-key.ts';
import type { Database } from '../../db/database.ts';

/**
 * Opens the private key of one application, if there is any: at start, so that a wrong master secret is an error
 * there and not a failed validation for every customer.
 * @throws {PrivateKeyUnreadableError}
 */
export async function checkApplicationKeys(database: Database, keyring: Keyring): Promise<void> {
  const application = await database.prisma.application.findFirst({
    select: { id: true, privateKeyEncrypted: true },
    orderBy: { id: 'desc' },
  });
  if (application !== null) openPrivateKey(keyring, application.id, application.privateKeyEncrypted);
}
