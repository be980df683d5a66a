import { Secret, TOTP } from 'otpauth';
import { recoveryCodeHash } from '../../src/crypto/recovery-code.ts';
import { sealTotpSecret } from '../../src/crypto/sealed-totp-secret.ts';
import type { TestServer } from './server.ts';

/** The code of a secret in base32, as an authenticator app shows it. @param now in milliseconds */
export const totpCodeOf = (secret: string, now: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });

/** Another code than that of the secret, now and in the steps around. */
export function wrongTotpCode(secret: string, now: number): string {
  const around = [-1, 0, 1, 2].map((steps) => totpCodeOf(secret, now + steps * 30_000));
  return ['000000', '000001', '000002', '000003', '000004'].find((code) => !around.includes(code)) ?? '';
}

/** A secret and a recovery code for tables of operations, which cannot wait for those of an account. */
const knownSecret = Buffer.alloc(20, 7);
export const knownRecoveryCode = 'ABCD-EFGH-IJKL-MN27';
export const knownTotpCode = (): string =>
  new TOTP({ secret: Secret.fromHex(knownSecret.toString('hex')) }).generate();

/** Lets an account begin to turn TOTP on with the known secret. */
export async function seedPendingTotp(server: TestServer, developerId: string): Promise<void> {
  const { database, keyring } = server.deps.services;
  await database.prisma.developer.update({
    where: { id: developerId },
    data: {
      totpSecretEncrypted: sealTotpSecret(keyring, developerId, knownSecret),
      totpEnabledAt: null,
    },
  });
}

/** Turns TOTP on with the known secret and the known recovery code. */
export async function seedTotp(server: TestServer, developerId: string): Promise<void> {
  await seedPendingTotp(server, developerId);
  const { prisma } = server.deps.services.database;
  await prisma.developer.update({ where: { id: developerId }, data: { totpEnabledAt: new Date() } });
  const row = { developerId, codeHash: recoveryCodeHash(knownRecoveryCode) };
  await prisma.recoveryCode.createMany({ data: [row], skipDuplicates: true });
}
