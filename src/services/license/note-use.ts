import type { Clock } from '../../lib/clock.ts';
import type { ApplicationFacts } from '../application/snapshot.ts';
import type { ClientOrigin } from '../client-origin.ts';
import type { SecurityLogWriter } from '../security-log/writer.ts';
import { type DeviceFacts, placeOf } from './license-devices.ts';

const minuteMilliseconds = 60_000;

/** What was last noted of a device or license, as long as it is cached. */
const noted = new WeakMap<object, { readonly minute: number; readonly ip: string | null }>();

/** Whether this use is the first one in its minute from its address; the next one is not. */
function isNewUse(used: object, minute: number, ip: string | null): boolean {
  const last = noted.get(used);
  if (last?.minute === minute && last.ip === ip) return false;
  noted.set(used, { minute, ip });
  return true;
}

/** Who used a license, and where it is noted: a part of the request's context. */
export interface NotingContext {
  readonly env: {
    readonly clock: Clock;
    readonly securityLog: Pick<SecurityLogWriter, 'deviceSeen' | 'seen'>;
  };
  readonly client: Pick<ClientOrigin, 'ip' | 'country'>;
}

/** An accepted use of a license. */
export interface NotedUse {
  readonly application: Pick<ApplicationFacts, 'hwidLockEnabled'>;
  readonly license: DeviceFacts & { readonly id: string };
  readonly hwid: string | null;
}

/**
 * Notes when and from where a device was used, once a minute for each address as long as the license stays cached. It is
 * written in the background. A device that the request has just bound has the time and the address already.
 */
export function noteUse({ env, client }: NotingContext, { application, license, hwid }: NotedUse): void {
  if (hwid === null || !application.hwidLockEnabled) return;
  const now = env.clock.now();
  const place = placeOf(license, { hwid }, new Date(now));
  if (place.kind !== 'bound') return;
  const { device } = place;
  const minute = Math.floor(now / minuteMilliseconds);
  if (!isNewUse(device, minute, client.ip)) return;
  env.securityLog.deviceSeen(device.id, {
    licenseId: license.id,
    at: new Date(minute * minuteMilliseconds),
    ip: client.ip,
    country: client.country,
  });
}

/** Notes from which address a license was used, once a minute for each address as long as the license stays cached. */
export function noteAddress({ env, client }: NotingContext, license: { readonly id: string }): void {
  const minute = Math.floor(env.clock.now() / minuteMilliseconds);
  if (isNewUse(license, minute, client.ip)) env.securityLog.seen(license.id, client.ip);
}
