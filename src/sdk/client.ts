import type { ClientAuthOutcome } from './client-auth.ts';
import { type LoginOptions, login } from './login.ts';
import { type ClientOptions, parseOptions } from './options.ts';
import { type RegisterOptions, register } from './register.ts';
import { createSealedCall } from './sealed-call.ts';
import { type UpgradeOptions, upgrade } from './upgrade.ts';
import { type ValidateOptions, type ValidateOutcome, validate } from './validate.ts';

export interface Client {
  /**
   * Asks the service about a license key. Never rejects. Unlock only on `kind: 'verdict'` with `valid: true`; on
   * `kind: 'failure'` nothing is known about the license.
   */
  validate(licenseKey: string, options?: ValidateOptions): Promise<ValidateOutcome>;
  /**
   * Registers an end user and logs him in. Never rejects. The user is in only on `kind: 'verdict'` with
   * `valid: true`; after a `kind: 'failure'` he may have been registered all the same: log in to find out.
   */
  register(options: RegisterOptions): Promise<ClientAuthOutcome>;
  /** Logs an end user in. Never rejects. He is in only on `kind: 'verdict'` with `valid: true`. */
  login(options: LoginOptions): Promise<ClientAuthOutcome>;
  /**
   * Gives an end user a license of a higher tier. Never rejects. He has it only on `kind: 'verdict'` with
   * `valid: true`; after a `kind: 'failure'` he may have it all the same: log in to find out.
   */
  upgrade(options: UpgradeOptions): Promise<ClientAuthOutcome>;
}

/**
 * A client of one application. It connects when it is first asked, and keeps its session between calls: make one
 * and keep it.
 * @throws {TypeError} naming the option that is wrong
 */
export function createClient(options: ClientOptions): Client {
  const call = createSealedCall(parseOptions(options));
  return {
    validate: (licenseKey, validateOptions) => validate(call, licenseKey, validateOptions),
    register: (registerOptions) => register(call, registerOptions),
    login: (loginOptions) => login(call, loginOptions),
    upgrade: (upgradeOptions) => upgrade(call, upgradeOptions),
  };
}
