import type { Call } from './call.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';

export interface UpgradeOptions {
  readonly username: string;
  /** Key of a license with a higher tier than the user's current one; no license counts as tier 0. */
  readonly licenseKey: string;
  /** Identifier of this device, 1 to 256 characters. If omitted, device checks are skipped. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Moves an end user to a license of a higher tier. */
export function upgrade(call: Call, options: UpgradeOptions): Promise<ClientAuthOutcome> {
  // JavaScript callers can omit the options; the service then reports what is missing.
  const { username, licenseKey, hwid, signal }: Partial<UpgradeOptions> = options ?? {};
  return askClientAuth(call, { verb: 'upgrade', members: { username, licenseKey, hwid }, signal });
}
