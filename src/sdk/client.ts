import type { Call } from './call.ts';
import type { ClientAuthOutcome } from './client-auth.ts';
import { createDevices, type Devices } from './devices.ts';
import { createLeases, type Leases } from './leases/create-leases.ts';
import { validateWithLease } from './leases/validate-with-lease.ts';
import { type LoginOptions, login } from './login.ts';
import { type ClientOptions, parseOptions } from './options.ts';
import { type RegisterOptions, register } from './register.ts';
import { createSealedCall } from './sealed-call.ts';
import { type UpgradeOptions, upgrade } from './upgrade.ts';
import { createCall } from './v2/call.ts';
import { createServiceClock } from './v2/service-clock.ts';
import { type ValidateOptions, type ValidateOutcome, validate } from './validate.ts';
import { withLabels } from './with-labels.ts';

export interface Client {
  /**
   * Validates a license key. Never rejects, unless the options `now` or `runTime` throw. Unlock only on `kind: 'verdict'` with `valid: true`; `kind: 'failure'` says
   * nothing about the license. With the option `leases`, a lease can stand in for a missing answer: `source` is then
   * `lease`.
   */
  validate(licenseKey: string, options?: ValidateOptions): Promise<ValidateOutcome>;
  /**
   * Registers an end user and logs them in. Never rejects. The user is logged in only on `kind: 'verdict'` with
   * `valid: true`. After a `kind: 'failure'` they may still have been registered: log in to find out.
   */
  register(options: RegisterOptions): Promise<ClientAuthOutcome>;
  /** Logs an end user in. Never rejects. The user is logged in only on `kind: 'verdict'` with `valid: true`. */
  login(options: LoginOptions): Promise<ClientAuthOutcome>;
  /**
   * Moves an end user to a license of a higher tier. Never rejects. The upgrade is confirmed only on `kind: 'verdict'`
   * with `valid: true`. After a `kind: 'failure'` it may still have happened: log in to find out.
   */
  upgrade(options: UpgradeOptions): Promise<ClientAuthOutcome>;
  /** What customers do with the devices of their license, as far as the vendor allows it. */
  readonly devices: Devices;
  /** Leases for devices without a network, and lists of revoked ones. They are stored; see the option `store`. */
  readonly leases: Leases;
}

/**
 * Creates a client for one application. It connects on the first call and reuses what it has learnt from the service, so
 * create it once and keep it.
 * @throws {TypeError} if an option is invalid; the message names it
 */
export function createClient(options: ClientOptions): Client {
  const settings = parseOptions(options);
  const clock = createServiceClock(settings);
  const { leases, keeper, learnTime } = createLeases(settings, clock);
  if (settings.protocol === 1) {
    const call = withLabels(createSealedCall(settings), settings);
    return { ...clientOf(call), devices: createDevices(call, keeper), leases };
  }
  const call = withLabels(createCall(settings, { clock, onSignedTime: learnTime }), settings);
  const client = { ...clientOf(call), devices: createDevices(call, keeper), leases };
  if (!settings.leases) return client;
  return {
    ...client,
    validate: (licenseKey, validateOptions) =>
      validateWithLease({ call, keeper }, licenseKey, validateOptions),
  };
}

function clientOf(call: Call): Omit<Client, 'leases' | 'devices'> {
  return {
    validate: (licenseKey, validateOptions) => validate(call, licenseKey, validateOptions),
    register: (registerOptions) => register(call, registerOptions),
    login: (loginOptions) => login(call, loginOptions),
    upgrade: (upgradeOptions) => upgrade(call, upgradeOptions),
  };
}
