import { clientPaths } from '../protocol/constants.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';
import type { SealedCall } from './sealed-call.ts';

export interface LoginOptions {
  readonly username: string;
  readonly password: string;
  /** What identifies this device, 1 to 256 characters. Left out, nothing is checked against a device. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Logs an end user in. */
export function login(call: SealedCall, options: LoginOptions): Promise<ClientAuthOutcome> {
  // JavaScript can leave the options out; the service then says what is missing.
  const { username, password, hwid, signal }: Partial<LoginOptions> = options ?? {};
  return askClientAuth(call, { path: clientPaths.login, members: { username, password, hwid }, signal });
}
