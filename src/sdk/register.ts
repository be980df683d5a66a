import type { Call } from './call.ts';
import { askClientAuth, type ClientAuthOutcome } from './client-auth.ts';

export interface RegisterOptions {
  /** 3 to 64 of the characters `a-z A-Z 0-9 . _ -`. */
  readonly username: string;
  /** 8 to 128 characters. */
  readonly password: string;
  readonly email?: string | undefined;
  /** Required if the application requires a license to register. */
  readonly licenseKey?: string | undefined;
  /** Identifier of this device, 1 to 256 characters. If omitted, device checks are skipped. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Registers an end user and logs them in. */
export function register(call: Call, options: RegisterOptions): Promise<ClientAuthOutcome> {
  // JavaScript callers can omit the options; the service then reports what is missing.
  const { username, password, email, licenseKey, hwid, signal }: Partial<RegisterOptions> = options ?? {};
  const members = { username, password, email, licenseKey, hwid };
  return askClientAuth(call, { verb: 'register', members, signal });
}
