import type { Call, ServiceContext } from '../context.ts';
import { Refusal, type RefusalOutcome } from '../end-user/client-auth.ts';
import { applyToLocked } from '../license/apply-to-locked.ts';
import { noLabels } from '../license/client-facts.ts';
import { insertDevice, noteDevices } from '../license/device-rows.ts';
import { activeDevices, type LicenseDevice, roomFor, sameAs } from '../license/license-devices.ts';
import { releaseDevices } from '../license/release-devices.ts';
import { releaseIdle } from '../license/release-idle.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { answerSelfService, type Success } from './answer.ts';
import { changeDevices, countMove, type LockedOwn, requireMove } from './change-devices.ts';
import { type AllowanceMembers, allowanceMembers, allowanceOf } from './moves.ts';
import type { Customer, SelfServiceRequest } from './owner.ts';
import { requireDevice } from './release.ts';

export interface MoveDeviceInput extends SelfServiceRequest {
  /** Null if the device only takes a free place. */
  readonly releaseDeviceId: string | null;
  /** The device to bind. */
  readonly hwid: string;
}

type Moved = {
  readonly licenseId: string;
  /** The device with the request's HWID. */
  readonly deviceId: string;
  readonly releasedDeviceId?: string;
} & AllowanceMembers;

export type MoveDeviceOutcome = (Success & Moved) | RefusalOutcome;

/**
 * Binds a device in the place of another one, or in a free place. Also a device that was released before: no validation
 * binds it again while customers change devices themselves. What changes nothing is no move.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function moveDevice({ ctx, input }: Call<MoveDeviceInput>): Promise<MoveDeviceOutcome> {
  return answerSelfService(ctx, 'devices.move', input, (customer, noted) =>
    changeDevices(ctx, customer, noted, async (own): Promise<Moved> => {
      const { license, now } = own;
      const { releaseDeviceId, hwid } = customer.request;
      const leaving = releaseDeviceId === null ? null : requireDevice(license, releaseDeviceId);
      const bound = activeDevices(license).find(sameAs(license.applicationId, { hwid }));
      const licenseId = license.id;
      if (bound !== undefined && (leaving === null || leaving.id === bound.id)) {
        return { licenseId, deviceId: bound.id, ...allowanceMembers(allowanceOf(license, now)) };
      }
      requireMove(own);
      const deviceId = await exchange(ctx, customer, own, { leaving, bound });
      const after = await countMove(own);
      await record(ctx, customer, own, { deviceId, leaving });
      return {
        licenseId,
        deviceId,
        ...(leaving !== null && { releasedDeviceId: leaving.id }),
        ...allowanceMembers(allowanceOf(after, now)),
      };
    }),
  );
}

interface Exchange {
  readonly leaving: LicenseDevice | null;
  /** Undefined if the device is to be bound. */
  readonly bound: LicenseDevice | undefined;
}

/** @returns the id of the device that is bound then. @throws {Refusal} DEVICE_LIMIT */
async function exchange(
  ctx: ServiceContext,
  { request: { application, hwid, labels = noLabels } }: Customer<MoveDeviceInput>,
  { transaction, invalidations, license, activate, now }: LockedOwn,
  { leaving, bound }: Exchange,
): Promise<string> {
  const devices = license.devices.filter(({ id }) => id !== leaving?.id);
  const idle = bound === undefined ? roomFor({ ...license, devices }, now) : [];
  if (idle === null) throw new Refusal('DEVICE_LIMIT');
  const { developerId } = application;
  if (leaving !== null) {
    const release = { ids: [leaving.id], by: 'customer', now } as const;
    await releaseDevices(ctx, transaction, invalidations, license, release);
  }
  if (idle.length > 0) {
    const ids = idle.map(({ id }) => id);
    await releaseIdle(ctx, transaction, invalidations, license, { ids, developerId, now });
  }
  if (bound !== undefined) return bound.id;
  // A license that was never used is used by this.
  const effects = { activate, device: null };
  await applyToLocked(ctx, transaction, invalidations, license, { developerId, effects, device: null, now });
  const id = await insertDevice(ctx, transaction, { licenseId: license.id, device: { hwid }, labels, now });
  await noteDevices(transaction, license.id, false, now);
  return id;
}

function record(
  ctx: ServiceContext,
  { request: { application, hwid }, owner }: Customer<MoveDeviceInput>,
  { transaction, license }: LockedOwn,
  { deviceId, leaving }: { readonly deviceId: string; readonly leaving: LicenseDevice | null },
): Promise<void> {
  return recordSecurityEvent(ctx, transaction, {
    developerId: application.developerId,
    applicationId: application.id,
    licenseId: license.id,
    userId: 'userId' in owner ? owner.userId : null,
    event: 'device_moved',
    hwid,
    metadata: { deviceId, releasedDeviceId: leaving?.id ?? null, by: 'customer' },
    eventData: { keyPrefix: license.keyPrefix },
  });
}
