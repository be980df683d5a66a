/**
 * The SDK for client software, published as "@latchkey/client". Runs on Node.js 20 or newer, Deno and browsers.
 *
 * ```ts
 * const client = createClient({ baseUrl, appId, publicKeyB64, version: '1.0.0' });
 * const outcome = await client.validate(licenseKey, { hwid });
 * if (outcome.kind === 'failure') showNoAnswer(outcome.reason, outcome.message);
 * else if (outcome.valid) unlock(outcome.subscriptionTier);
 * else showRefusal(outcome.code, outcome.message);
 * ```
 * `client.register`, `client.login` and `client.upgrade` return similar outcomes for end users, and `client.devices` lets
 * customers move their license between devices.
 */

export type { Values } from './call.ts';
export { type Client, createClient } from './client.ts';
export type { ClientAuthOutcome, SignedIn } from './client-auth.ts';
export type {
  Device,
  DeviceList,
  DeviceMoved,
  DeviceOwner,
  DeviceReleased,
  Devices,
  ListDevicesOptions,
  MoveDeviceOptions,
  ReleaseDeviceOptions,
} from './devices.ts';
export type { Failure, FailureReason } from './failure.ts';
export type { Leases } from './leases/create-leases.ts';
export type { LeaseProblem } from './leases/lease-problem.ts';
export type { LeaseOf } from './leases/leases.ts';
export type { StoredRevocations } from './leases/revocations.ts';
export type { LoginOptions } from './login.ts';
export type { ClientOptions } from './options.ts';
export type { RegisterOptions } from './register.ts';
export type { ClientStore } from './store/client-store.ts';
export type { UpgradeOptions } from './upgrade.ts';
export type { ValidateOptions, ValidateOutcome } from './validate.ts';
export type { InvalidVerdict, LicenseDetails, ValidVerdict } from './verdict.ts';
