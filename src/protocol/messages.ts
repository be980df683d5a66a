import * as z from 'zod';
import { decodeBase64 } from './base64.ts';
import {
  handshakeNonceBytes,
  protocolVersion,
  requestCiphertextMaxLength,
  requestNonceBytes,
  saltBytes,
  sessionIdMaxLength,
  signatureBytes,
} from './constants.ts';
import { textOf, wellFormedText } from './text.ts';

/** Codes of a sealed response, in order of evaluation (SPEC §10). */
export const verdictCodes = [
  'VALIDATION_FAILED',
  'APP_DISABLED',
  'APP_OUTDATED',
  'IP_BANNED',
  'HWID_BANNED',
  'REGISTER_DISABLED',
  'LICENSE_REQUIRED',
  'INVALID_CREDENTIALS',
  'USER_NOT_FOUND',
  'LICENSE_NOT_FOUND',
  'APP_MISMATCH',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
  'SELF_SERVICE_OFF',
  'DEVICE_UNKNOWN',
  'MOVE_COOLDOWN',
  'MOVES_EXHAUSTED',
  'USERNAME_TAKEN',
  'TIER_NOT_HIGHER',
  'OK',
] as const;
export type VerdictCode = (typeof verdictCodes)[number];
export type FailureVerdictCode = Exclude<VerdictCode, 'OK'>;

/** Codes of a plaintext error and their HTTP statuses (SPEC §11). */
export const plaintextErrorStatus = {
  VALIDATION_FAILED: 400,
  CRYPTO_REQUIRED: 400,
  DECRYPT_FAIL: 400,
  CLOCK_SKEW: 400,
  REPLAY: 400,
  SESSION_EXPIRED: 401,
  APP_DISABLED: 403,
  APP_OUTDATED: 403,
  IP_BANNED: 403,
  APP_NOT_FOUND: 404,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
} as const;
export type PlaintextErrorCode = keyof typeof plaintextErrorStatus;

const text = (max: number) => textOf({ min: 1, max });

/** Canonical base64 of `min` to `max` bytes. The length is checked first, so that no long text is decoded. */
export const base64Of = (min: number, max: number = min) =>
  z
    .string()
    .max(Math.ceil(max / 3) * 4)
    .refine(
      (value) => {
        const length = decodeBase64(value)?.length ?? -1;
        return length >= min && length <= max;
      },
      `must be standard base64 with padding of ${min === max ? min : `${min} to ${max}`} bytes`,
    );

/** The only spelling of a UUID in the protocol (SPEC §1). */
export const canonicalUuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a UUID in lower case');
const sessionIdText = text(sessionIdMaxLength);
const unixTime = z.int().min(0);
const version = z.literal(protocolVersion);
const instant = z.iso.datetime();

// Handshake (SPEC §3)

export const sessionInitRequest = z.object({
  appId: canonicalUuid,
  clientNonceB64: base64Of(handshakeNonceBytes),
  clientVersion: text(64),
});
export type SessionInitRequest = z.infer<typeof sessionInitRequest>;

export const sessionInitResponse = z.object({
  success: z.literal(true),
  sessionId: sessionIdText,
  serverNonceB64: base64Of(handshakeNonceBytes),
  hkdfSaltB64: base64Of(saltBytes),
  timestamp: unixTime,
  signatureB64: base64Of(signatureBytes),
  v: version,
});
export type SessionInitResponse = z.infer<typeof sessionInitResponse>;

/** The object whose canonical JSON the handshake signs. A type, not an interface, so that it is assignable to JsonValue. */
export type SessionInitSignedPart = {
  readonly appId: string;
  readonly hkdfSaltB64: string;
  readonly serverNonceB64: string;
  readonly sessionId: string;
  readonly timestamp: number;
  readonly v: typeof protocolVersion;
};

/** Extracts the signed members of a handshake response. */
export function sessionInitSignedPart(
  appId: string,
  answer: Omit<SessionInitSignedPart, 'appId'>,
): SessionInitSignedPart {
  const { hkdfSaltB64, serverNonceB64, sessionId, timestamp, v } = answer;
  return { appId, hkdfSaltB64, serverNonceB64, sessionId, timestamp, v };
}

// Outer bodies (SPEC §6, §7). Only types and lengths are checked here: malformed base64 is DECRYPT_FAIL.

export const sealedRequest = z.object({
  sessionId: sessionIdText,
  ivB64: z.string().max(64),
  ciphertextB64: z.string().max(requestCiphertextMaxLength),
  tagB64: z.string().max(64),
});
export type SealedRequest = z.infer<typeof sealedRequest>;

export const sealedResponse = z.object({
  /** Unauthenticated; clients use the one in the sealed result. */
  sessionId: z.string().optional(),
  ivB64: z.string(),
  ciphertextB64: z.string(),
  tagB64: z.string(),
  signatureB64: z.string(),
});

/** The body of a plaintext error (SPEC §11). It is unsigned: clients report it but never act on it. */
export const plaintextError = z.object({
  success: z.literal(false),
  error: wellFormedText.max(4096),
  code: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/),
});

// Inner requests (SPEC §6). Unknown members are ignored, so that later clients can send more.

/** Members of every inner request, parsed before the others (SPEC §10). */
export const innerHead = z.object({
  nonce: base64Of(requestNonceBytes.min, requestNonceBytes.max),
  timestamp: unixTime,
  v: version,
  echoNonce: z.boolean().optional(),
  echoRequest: z.boolean().optional(),
  /** Judged together with `echoRequest` only (SPEC §6): earlier clients could send any member of this name. */
  call: z.unknown().optional(),
});
export type InnerHead = z.infer<typeof innerHead>;

const licenseKey = text(256);
const hwid = text(256).optional();
/** Any text for looking up an account: an invalid username is simply unknown. */
const accountName = text(64);

/** Earlier clients could send any member of this name, so a malformed one counts as not sent. */
const label = (max: number) => text(max).optional().catch(undefined);
/** What a client tells about its device, for people who look at a list of devices. */
const labels = { deviceName: label(64), platform: label(32) };

// The members that each call adds. Both versions of the protocol have them.

export const validateMembers = z.object({ licenseKey, hwid, ...labels });

export const registerMembers = z.object({
  username: z.string().regex(/^[a-zA-Z0-9._-]{3,64}$/, 'must be 3 to 64 of the characters a-z A-Z 0-9 . _ -'),
  password: textOf({ min: 8, max: 128 }),
  email: z.email().max(254).optional(),
  licenseKey: licenseKey.optional(),
  hwid,
  ...labels,
});

const accountPassword = text(1024);

export const loginMembers = z.object({ username: accountName, password: accountPassword, hwid, ...labels });

export const upgradeMembers = z.object({ username: accountName, licenseKey, hwid, ...labels });

/** Whose devices a request is about: those of a license key, or of the license of an account. */
const owner = {
  licenseKey: licenseKey.optional(),
  username: accountName.optional(),
  password: accountPassword.optional(),
};
interface Owner {
  readonly licenseKey?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}
const namesOneOwner = ({ licenseKey, username, password }: Owner): boolean =>
  licenseKey === undefined
    ? username !== undefined && password !== undefined
    : username === undefined && password === undefined;
const oneOwner = 'must have either licenseKey, or username and password';

export const listDevicesMembers = z
  .object({ ...owner, hwid, after: canonicalUuid.optional() })
  .refine(namesOneOwner, oneOwner);

export const releaseDeviceMembers = z
  .object({ ...owner, deviceId: canonicalUuid, hwid })
  .refine(namesOneOwner, oneOwner);

export const moveDeviceMembers = z
  .object({ ...owner, releaseDeviceId: canonicalUuid.optional(), hwid: hwid.unwrap(), ...labels })
  .refine(namesOneOwner, oneOwner);

export const innerValidateRequest = innerHead.extend(validateMembers.shape);
export const innerRegisterRequest = innerHead.extend(registerMembers.shape);
export const innerLoginRequest = innerHead.extend(loginMembers.shape);
export const innerUpgradeRequest = innerHead.extend(upgradeMembers.shape);
export const innerListDevicesRequest = innerHead.extend(listDevicesMembers.shape).refine(namesOneOwner);
export const innerReleaseDeviceRequest = innerHead.extend(releaseDeviceMembers.shape).refine(namesOneOwner);
export const innerMoveDeviceRequest = innerHead.extend(moveDeviceMembers.shape).refine(namesOneOwner);

// Inner results (SPEC §7)

const resultHead = z.object({
  message: wellFormedText,
  sessionId: sessionIdText,
  timestamp: unixTime,
  v: version,
  /** The request's nonce, if the request set `echoNonce` (SPEC §8). */
  nonce: z.string().optional(),
  /** The hash of the request's plaintext, if the request set `echoRequest` (SPEC §8). */
  requestSha256B64: z.string().optional(),
});

/** Clients treat unknown codes as refusals, so that later servers can add more. */
const failureCode = text(64).refine((code) => code !== 'OK', 'must not be OK in a failure');

/** A refusal stands, whatever a member that only explains it looks like. */
const explanation = instant.optional().catch(undefined);

/** What a result says. Both versions of the protocol have these members. */
export const refused = z.object({
  success: z.literal(false),
  code: failureCode,
  /** With DEVICE_RELEASED. */
  releasedAt: explanation,
  /** With MOVE_COOLDOWN. */
  retryAt: explanation,
  /** With MOVES_EXHAUSTED. */
  resetsAt: explanation,
});

const value = z.union([z.boolean(), z.int(), wellFormedText]);
/** A license, as a success describes it. The optional members are absent if they have nothing to say. */
const licenseMembers = {
  status: text(32),
  expiresAt: instant.nullable(),
  subscriptionTier: z.int().min(0),
  /** While the license is only valid because of its grace. */
  graceEndsAt: instant.optional(),
  entitlements: z.record(text(64), value).optional(),
  metadata: z.record(text(64), value).optional(),
};
const granted = { success: z.literal(true), code: z.literal('OK') } as const;

export const validLicense = z.object({ ...granted, ...licenseMembers });

export const validateSuccess = resultHead.extend(validLicense.shape);

export const validateFailure = resultHead.extend({
  ...refused.shape,
  status: z.null(),
  expiresAt: z.null(),
});

export const validateResult = z.discriminatedUnion('success', [validateSuccess, validateFailure]);

export const signedIn = z.object({
  ...granted,
  sessionToken: text(1024),
  expiresAt: instant,
  user: z.object({
    id: canonicalUuid,
    username: accountName,
    email: wellFormedText.nullable(),
    applicationId: canonicalUuid,
  }),
  license: z.object({ id: canonicalUuid, ...licenseMembers }).nullable(),
  session: z.object({ ip: wellFormedText.nullable(), hwid: wellFormedText.nullable() }),
});
export type SignedInMembers = z.infer<typeof signedIn>;

export const clientAuthSuccess = resultHead.extend(signedIn.shape);
export const clientAuthFailure = resultHead.extend(refused.shape);

export const clientAuthResult = z.discriminatedUnion('success', [clientAuthSuccess, clientAuthFailure]);

/** What is left of the moves of a license. */
const allowance = {
  /** Null: now. */
  nextMoveAt: instant.nullable(),
  /** Null: any number. */
  movesLeft: z.int().min(0).nullable(),
};

/** The answers about a license's devices. */
export const devicesListed = z.object({
  ...granted,
  licenseId: canonicalUuid,
  devices: z.array(
    z.object({
      id: canonicalUuid,
      name: wellFormedText.nullable(),
      platform: wellFormedText.nullable(),
      firstSeenAt: instant,
      lastSeenAt: instant,
      /** True for the device that asks. */
      current: z.boolean().optional(),
    }),
  ),
  deviceLimit: z.int().min(0),
  ...allowance,
  /** Present if there are more devices: the `after` of the next request. */
  next: canonicalUuid.optional(),
});

export type DevicesListedMembers = z.infer<typeof devicesListed>;

export const deviceReleased = z.object({
  ...granted,
  licenseId: canonicalUuid,
  releasedDeviceId: canonicalUuid,
  /** True if it is the device that asks. */
  current: z.boolean().optional(),
  ...allowance,
});

export type DeviceReleasedMembers = z.infer<typeof deviceReleased>;

export const deviceMoved = z.object({
  ...granted,
  licenseId: canonicalUuid,
  /** The device with the request's `hwid`. */
  deviceId: canonicalUuid,
  /** The device that was released, if one was. */
  releasedDeviceId: canonicalUuid.optional(),
  ...allowance,
});

export type DeviceMovedMembers = z.infer<typeof deviceMoved>;

export const listDevicesResult = z.discriminatedUnion('success', [
  resultHead.extend(devicesListed.shape),
  clientAuthFailure,
]);
export const releaseDeviceResult = z.discriminatedUnion('success', [
  resultHead.extend(deviceReleased.shape),
  clientAuthFailure,
]);
export const moveDeviceResult = z.discriminatedUnion('success', [
  resultHead.extend(deviceMoved.shape),
  clientAuthFailure,
]);
