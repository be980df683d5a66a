import type { Call } from './call.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';

export interface LoginOptions {
  readonly username: string;
  readonly password: string;
  /** Identifier of this device, 1 to 256 characters. If omitted, device checks are skipped. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Logs an end user in. */
export function login(call: Call, options: LoginOptions): Promise<ClientAuthOutcome> {
  // JavaScript callers can omit the options; the service then reports what is missing.
  const { username, password, hwid, signal }: Partial<LoginOptions> = options ?? {};
  return askClientAuth(call, { verb: 'login', members: { username, password, hwid }, signal });
}
