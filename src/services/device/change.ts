import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { deviceNotFound } from '../errors.ts';
import type { LockedLicense } from '../license/lock.ts';
import { lockOwnLicense } from '../license/lock-own.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { type DeviceRow, type DeviceView, deviceSelect, deviceView } from './view.ts';

/** A device, by its license and its own id. */
export interface DeviceReference {
  readonly licenseId: string;
  readonly deviceId: string;
}

/** A device whose license the transaction has locked. */
export interface LockedDevice {
  readonly transaction: Prisma.TransactionClient;
  readonly invalidations: Invalidations;
  readonly license: LockedLicense;
  readonly device: DeviceRow;
}

/** The log entry of a change. */
interface DeviceEntry {
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
}

/**
 * Changes a device of one of the developer's licenses, in one transaction with its log entry.
 * @param change makes the change
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, DEVICE_NOT_FOUND, and whatever
 *   `change` throws
 */
export async function changeDevice(
  ctx: ServiceContext,
  { licenseId, deviceId }: DeviceReference,
  change: (locked: LockedDevice) => Promise<DeviceEntry>,
): Promise<DeviceView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  return developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const license = await lockOwnLicense(ctx, transaction, invalidations, licenseId);
    const device = await findDevice(transaction, { licenseId, deviceId });
    const { event, metadata } = await change({ transaction, invalidations, license, device });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId,
      event,
      hwid: device.hwid,
      metadata: { deviceId, ...metadata },
      eventData: { keyPrefix: license.keyPrefix },
    });
    return deviceView(await findDevice(transaction, { licenseId, deviceId }));
  });
}

async function findDevice(
  transaction: Prisma.TransactionClient,
  { licenseId, deviceId }: DeviceReference,
): Promise<DeviceRow> {
  const device = isId(deviceId)
    ? await transaction.device.findUnique({
        where: { id: deviceId, licenseId },
        select: { ...deviceSelect, licenseId: true },
      })
    : null;
  if (device === null) throw deviceNotFound();
  return device;
}
