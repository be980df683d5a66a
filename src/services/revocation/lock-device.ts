import { createHash } from 'node:crypto';
import type { Prisma } from '../../db/client.ts';

/** The classes of these advisory locks. Locks with two keys are separate from those of `db/advisory-locks.ts`. */
const deviceClass = 72707376;
const applicationClass = 72707377;

/**
 * Lets the lease of a device and the ban of its HWID wait for each other until the transaction ends: whichever is second
 * sees the first. The ban locks no license but its own, so the locks of licenses do not order the two. Locks a license
 * first, if one is locked.
 */
export async function lockDevice(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  deviceHash: string,
): Promise<void> {
  const [ofApplication, ofDevice] = [applicationKey(applicationId), deviceKey(deviceHash)];
  await transaction.$executeRaw`
    SELECT pg_advisory_xact_lock_shared(${applicationClass}::int, ${ofApplication}::int),
      pg_advisory_xact_lock(${deviceClass}::int, ${ofDevice}::int)`;
}

/**
 * The same for any number of devices of an application. The lock table of a server has room for a few thousand locks of all
 * transactions together, so several devices are locked by one lock, for which all leases of the application wait.
 */
export async function lockDevices(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  deviceHashes: readonly string[],
): Promise<void> {
  const [only, ...others] = deviceHashes;
  if (only === undefined) return;
  if (others.length === 0) return lockDevice(transaction, applicationId, only);
  await transaction.$executeRaw`
    SELECT pg_advisory_xact_lock(${applicationClass}::int, ${applicationKey(applicationId)}::int)`;
}

/** 32 bits of the hash. Devices that share them wait for each other for milliseconds. */
const deviceKey = (deviceHash: string): number => Buffer.from(deviceHash, 'base64url').readInt32BE(0);

/** The last bits of a UUIDv7 are random; a hash makes use of all of them. */
const applicationKey = (applicationId: string): number =>
  createHash('sha256').update(applicationId).digest().readInt32BE(0);
