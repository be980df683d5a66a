import { clientPaths } from '../protocol/constants.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';
import type { SealedCall } from './sealed-call.ts';

export interface RegisterOptions {
  /** 3 to 64 of the characters `a-z A-Z 0-9 . _ -`. */
  readonly username: string;
  /** 8 to 128 characters. */
  readonly password: string;
  readonly email?: string | undefined;
  /** Needed where the application requires a license to register. */
  readonly licenseKey?: string | undefined;
  /** What identifies this device, 1 to 256 characters. Left out, nothing is checked against a device. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Registers an end user and logs him in. */
export function register(call: SealedCall, options: RegisterOptions): Promise<ClientAuthOutcome> {
  // JavaScript can leave the options out; the service then says what is missing.
  const { username, password, email, licenseKey, hwid, signal }: Partial<RegisterOptions> = options ?? {};
  const members = { username, password, email, licenseKey, hwid };
  return askClientAuth(call, { path: clientPaths.register, members, signal });
}
