import type { Prisma } from '../../db/client.ts';

/** The class of these advisory locks. Locks with two keys are separate from those of `db/advisory-locks.ts`. */
const lockClass = 72707376;

/**
 * Lets the lease of a device and the ban of its HWID wait for each other until the transaction ends: whichever is second
 * sees the first. The ban locks no license but its own, so the locks of licenses do not order the two. Locks a license
 * first, if one is locked.
 */
export async function lockDevice(transaction: Prisma.TransactionClient, deviceHash: string): Promise<void> {
  // 32 bits of the hash. Devices that share them wait for each other for milliseconds.
  const key = Buffer.from(deviceHash, 'base64url').readInt32BE(0);
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${lockClass}::int, ${key}::int)`;
}
