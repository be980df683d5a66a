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
export function login(
  call: SealedCall,
  { username, password, hwid, signal }: LoginOptions,
): Promise<ClientAuthOutcome> {
  return askClientAuth(call, { path: clientPaths.login, members: { username, password, hwid }, signal });
}
