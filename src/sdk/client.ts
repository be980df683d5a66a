import { type ClientOptions, parseOptions } from './options.ts';
import { createSealedCall } from './sealed-call.ts';
import { type ValidateOptions, type ValidateOutcome, validate } from './validate.ts';

export interface Client {
  /**
   * Asks the service about a license key. Never rejects. Unlock only on `kind: 'verdict'` with `valid: true`; on
   * `kind: 'failure'` nothing is known about the license.
   */
  validate(licenseKey: string, options?: ValidateOptions): Promise<ValidateOutcome>;
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
  };
}
