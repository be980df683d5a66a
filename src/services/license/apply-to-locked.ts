import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { RecordingContext } from '../context.ts';
import { recordEvents } from '../outbox/record.ts';
import { type DeviceLabels, noLabels } from './client-facts.ts';
import type { LicenseEffects } from './decide.ts';
import { identifyDevice, insertDevice, noteDevices } from './device-rows.ts';
import type { Device } from './license-devices.ts';
import { invalidateLicense, type LockedLicense, readLocked } from './lock.ts';
import { releaseIdle } from './release-idle.ts';
import { activatedEvent, boundEvent } from './use-events.ts';

/** An accepted use of a locked license. */
export interface Use {
  readonly developerId: string;
  readonly effects: LicenseEffects;
  /** The device that `effects.device` is about; null if there is none. */
  readonly device: Device | null;
  readonly labels?: DeviceLabels;
  readonly now: Date;
}

/** Applies a verdict's effects to a locked license, and records the events about them. @returns the updated license */
export async function applyToLocked(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: LockedLicense,
  { developerId, effects, device, labels = noLabels, now }: Use,
): Promise<LockedLicense> {
  const { activate, device: place } = effects;
  if (activate === null && place === null) return license;
  invalidateLicense(invalidations, license);
  if (activate !== null) {
    await transaction.license.update({
      where: { id: license.id },
      data: { status: 'active', activatedAt: now, expiresAt: activate.expiresAt },
      select: { id: true },
    });
    const { keyPrefix } = license;
    await recordEvents(
      transaction,
      [activatedEvent({ ...license, developerId }, activate, { keyPrefix })],
      now,
    );
  }
  if (place !== null && device !== null) {
    await bind(ctx, transaction, invalidations, license, { developerId, place, device, labels, now });
  }
  const [updated] = await readLocked(transaction, { ids: [license.id] });
  return { ...(updated ?? license), keyValidUntil: license.keyValidUntil };
}

interface Binding {
  readonly developerId: string;
  readonly place: NonNullable<LicenseEffects['device']>;
  readonly device: Device;
  readonly labels: DeviceLabels;
  readonly now: Date;
}

async function bind(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: LockedLicense,
  { developerId, place, device, labels, now }: Binding,
): Promise<void> {
  const isIdentified = place.kind === 'identified';
  if (isIdentified && 'hwid' in device) await identifyDevice(transaction, place.device.id, device.hwid);
  if (!isIdentified) {
    if (place.instead.length > 0) {
      const ids = place.instead.map(({ id }) => id);
      await releaseIdle(ctx, transaction, invalidations, license, { ids, developerId, now });
    }
    const id = await insertDevice(ctx, transaction, { licenseId: license.id, device, labels, now });
    const { keyPrefix } = license;
    const bound = boundEvent({ ...license, developerId }, device, labels, id, { keyPrefix });
    await recordEvents(transaction, [bound], now);
  }
  await noteDevices(transaction, license.id, isIdentified, now);
}
