import * as z from 'zod';
import {
  canonicalUuid,
  deviceMoved,
  deviceReleased,
  devicesListed,
  listDevicesMembers,
  loginMembers,
  moveDeviceMembers,
  refused,
  registerMembers,
  releaseDeviceMembers,
  signedIn,
  upgradeMembers,
  validateMembers,
  validLicense,
  verdictCodes,
} from '../messages.ts';
import { textOf, wellFormedText } from '../text.ts';
import { protocolVersion } from './constants.ts';

/** Codes of a signed answer: those of version 1, and what version 1 says in unsigned errors. */
export const answerCodes = [
  ...verdictCodes,
  'CLOCK_SKEW',
  'REPLAY',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'LEASES_DISABLED',
] as const;
export type AnswerCode = (typeof answerCodes)[number];

/** Codes of an unsigned error, and their HTTP statuses. Clients report them but never act on them, except KEY_UNKNOWN. */
export const callErrorStatus = {
  MALFORMED: 400,
  KEY_UNKNOWN: 400,
  APP_NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;
export type CallErrorCode = keyof typeof callErrorStatus;

const unixTime = z.int().min(0);
const version = z.literal(protocolVersion);
const callName = textOf({ min: 1, max: 64 });

// Requests. Unknown members are ignored, so that later clients can send more.

/** Decides which application's key signs the answer, and so comes before everything else. */
export const callApplication = z.object({ app: canonicalUuid });

/** Members of every request. */
export const callHead = callApplication.extend({
  v: version,
  call: callName,
  version: textOf({ min: 1, max: 64 }),
  time: unixTime,
});
export type CallHead = z.infer<typeof callHead>;

const { licenseKey, hwid, deviceName, platform } = validateMembers.shape;

/** The members that each call adds. */
export const callMembers = {
  validate: validateMembers
    .extend({ lease: z.boolean().optional() })
    .refine(({ lease, hwid }) => lease !== true || hwid !== undefined, 'A lease needs a hwid'),
  lease: z.object({
    licenseKey,
    hwid: hwid.unwrap(),
    deviceName,
    platform,
    seq: z.int().min(0).optional(),
  }),
  register: registerMembers,
  login: loginMembers,
  upgrade: upgradeMembers,
  'devices.list': listDevicesMembers,
  'devices.release': releaseDeviceMembers,
  'devices.move': moveDeviceMembers,
} as const;
export type CallName = keyof typeof callMembers;

// Answers. Unknown members are ignored, so that later services can send more.

/** Tells which kind of request an answer is to. Clients check it before the other members. */
export const answerBinding = z.object({ v: version, call: callName });

const answerHead = answerBinding.extend({
  time: unixTime,
  message: wellFormedText,
  /** Base64 of a newer key statement. Any text: a bad statement does not spoil the answer (SPEC §9). */
  keys: z.string().optional(),
});

const license = validLicense.extend({ licenseId: canonicalUuid });
/** Any text: a bad lease does not spoil the answer (SPEC §9). */
const lease = z.string();
const refusal = answerHead.extend(refused.shape);

/** The answer to each call. */
export const callAnswers = {
  validate: z.discriminatedUnion('success', [
    answerHead.extend({ ...license.shape, lease: lease.optional() }),
    refusal,
  ]),
  lease: z.discriminatedUnion('success', [answerHead.extend({ ...license.shape, lease }), refusal]),
  register: z.discriminatedUnion('success', [answerHead.extend(signedIn.shape), refusal]),
  login: z.discriminatedUnion('success', [answerHead.extend(signedIn.shape), refusal]),
  upgrade: z.discriminatedUnion('success', [answerHead.extend(signedIn.shape), refusal]),
  'devices.list': z.discriminatedUnion('success', [answerHead.extend(devicesListed.shape), refusal]),
  'devices.release': z.discriminatedUnion('success', [answerHead.extend(deviceReleased.shape), refusal]),
  'devices.move': z.discriminatedUnion('success', [answerHead.extend(deviceMoved.shape), refusal]),
} as const satisfies Record<CallName, z.ZodType>;
export type CallAnswer<Call extends CallName> = z.infer<(typeof callAnswers)[Call]>;
