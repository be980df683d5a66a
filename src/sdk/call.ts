import type { JsonObject } from '../protocol/canonical-json.ts';
import type {
  DeviceMovedMembers,
  DeviceReleasedMembers,
  DevicesListedMembers,
  SignedInMembers,
} from '../protocol/messages.ts';
import type { Failure } from './failure.ts';

/** An answer that passed every check of its version of the protocol. */
export interface Answer<Result> {
  readonly kind: 'answer';
  readonly inner: Result;
}

/** A signed refusal. */
interface Refused {
  readonly success: false;
  /** The service's clock in Unix seconds, in version 2. */
  readonly time?: number;
  readonly code: string;
  readonly message: string;
  /** ISO 8601, like all times in answers: see `InvalidVerdict`. */
  readonly releasedAt?: string | undefined;
  readonly retryAt?: string | undefined;
  readonly resetsAt?: string | undefined;
}

/** What an answer says about a license. Absent members have nothing to say. */
export interface LicenseSaid {
  readonly status: string;
  readonly expiresAt: string | null;
  readonly subscriptionTier: number;
  readonly graceEndsAt?: string | undefined;
  readonly entitlements?: Values | undefined;
  readonly metadata?: Values | undefined;
}

/** Entitlements or metadata, by name. */
export type Values = Readonly<Record<string, boolean | number | string>>;

/** A signed confirmation that a license is valid. */
interface Licensed extends LicenseSaid {
  readonly success: true;
  readonly code: 'OK';
  readonly message: string;
  /** The service's clock in Unix seconds, in version 2. */
  readonly time?: number;
  /** In version 2. */
  readonly licenseId?: string | undefined;
  /** In version 2, if it was asked for and granted. */
  readonly lease?: string | undefined;
}

type Granted<Members> = Members & { readonly message: string };
type SignedInAnswer = Granted<SignedInMembers>;

/** What both versions of the protocol answer to each call. */
export interface CallResults {
  readonly validate: Licensed | Refused;
  readonly register: SignedInAnswer | Refused;
  readonly login: SignedInAnswer | Refused;
  readonly upgrade: SignedInAnswer | Refused;
  readonly 'devices.list': Granted<DevicesListedMembers> | Refused;
  readonly 'devices.release': Granted<DeviceReleasedMembers> | Refused;
  readonly 'devices.move': Granted<DeviceMovedMembers> | Refused;
  /** In version 2. */
  readonly lease: Licensed | Refused;
}
export type CallName = keyof CallResults;
/** The calls that both versions have. */
export type CommonCallName = Exclude<CallName, 'lease'>;

export interface CallInput<Name extends CallName> {
  readonly call: Name;
  /** Members of the request in addition to those of every request. */
  readonly members: JsonObject;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the service, over the version of the protocol that the client speaks. Never rejects. */
export type Call<Names extends CallName = CommonCallName> = <Name extends Names>(
  input: CallInput<Name>,
) => Promise<Answer<CallResults[Name]> | Failure>;
