import { clientPaths } from '../protocol/constants.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';
import type { SealedCall } from './sealed-call.ts';

export interface UpgradeOptions {
  readonly username: string;
  /** Of a license whose tier is higher than that of the one the user has; none counts as 0. */
  readonly licenseKey: string;
  /** What identifies this device, 1 to 256 characters. Left out, nothing is checked against a device. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Gives an end user a license of a higher tier. */
export function upgrade(call: SealedCall, options: UpgradeOptions): Promise<ClientAuthOutcome> {
  // JavaScript can leave the options out; the service then says what is missing.
  const { username, licenseKey, hwid, signal }: Partial<UpgradeOptions> = options ?? {};
  return askClientAuth(call, { path: clientPaths.upgrade, members: { username, licenseKey, hwid }, signal });
}
