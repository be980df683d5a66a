import { deviceHash } from '../../../protocol/v2/device-hash.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId } from '../exchange.ts';
import { devices, goodAnswer, licenseId, refusal, signedIn } from './calls.ts';
import { goodClaims, lease, leaseOf } from './lease.ts';

/** The members of a signed answer, and the result of a client (SPEC §7). */
export interface AnswerShape {
  readonly why: string;
  readonly members: object;
  readonly expect: 'valid' | 'refused' | 'no answer';
  /** Whether the client stores the `lease` of the answer. */
  readonly stores?: boolean;
}

/** Answers to a call that are correct but for their members. */
export function answerShapes(call: CallName): AnswerShape[] {
  return [...verdicts(call), ...explanations(call), ...successes(call)];
}

function successes(call: CallName): AnswerShape[] {
  switch (call) {
    case 'validate':
    case 'lease':
      return [...licenses(call), ...licenseMembers(call, (members) => members)];
    case 'register':
    case 'login':
    case 'upgrade':
      return [...signIns(call), ...licenseMembers(call, ofLicense)];
    case 'devices.list':
    case 'devices.release':
    case 'devices.move':
      return deviceShapes[call]();
  }
}

/** Successes of the calls about devices. Version 1 has the same. */
export const deviceShapes = {
  'devices.list': () => [...allowances('devices.list'), ...lists()],
  'devices.release': () => [...allowances('devices.release'), ...releases()],
  'devices.move': () => [...allowances('devices.move'), ...moves()],
} as const;

const changed = (call: CallName, why: string, change: object, valid = false): AnswerShape => ({
  why,
  members: { ...goodAnswer(call), ...change },
  expect: valid ? 'valid' : 'no answer',
});

function without(call: CallName, name: string, valid = false): AnswerShape {
  const rest = Object.entries(goodAnswer(call)).filter(([member]) => member !== name);
  return { why: `no ${name}`, members: Object.fromEntries(rest), expect: valid ? 'valid' : 'no answer' };
}

function verdicts(call: CallName): AnswerShape[] {
  const refused = refusal(call, 'BANNED');
  const refusedWith = (why: string, change: object): AnswerShape => ({
    why,
    members: { ...refused, ...change },
    expect: 'no answer',
  });
  return [
    changed(call, 'OK with success false', { success: false }),
    changed(call, 'success with another code than OK', { code: 'BANNED' }),
    refusedWith('a refusal with the code OK', { code: 'OK' }),
    changed(call, 'success as a text', { success: 'true' }),
    changed(call, 'success as a number', { success: 1 }),
    changed(call, 'success null', { success: null }),
    changed(call, 'the code in lower case', { code: 'ok' }),
    without(call, 'success'),
    without(call, 'code'),
    without(call, 'message'),
    without(call, 'time'),
    changed(call, 'the time as a text', { time: '1760000000' }),
    changed(call, 'a negative time', { time: -1 }),
    changed(call, 'keys as a number', { keys: 1 }),
    refusedWith('a refusal with an empty code', { code: '' }),
    refusedWith('a refusal with a code of 65 characters', { code: 'X'.repeat(65) }),
  ];
}

/** Members that explain a refusal. It stands, whatever they look like. Version 1 has the same. */
export const explanationCases = [
  { why: 'a released device', code: 'DEVICE_RELEASED', members: { releasedAt: '2025-10-08T08:53:20.000Z' } },
  { why: 'a move too soon', code: 'MOVE_COOLDOWN', members: { retryAt: '2025-10-10T08:53:20.000Z' } },
  { why: 'no moves left', code: 'MOVES_EXHAUSTED', members: { resetsAt: '2025-10-10T08:53:20.000Z' } },
  { why: 'no moves left, for ever', code: 'MOVES_EXHAUSTED', members: {} },
  {
    why: 'a released device, at no instant',
    code: 'DEVICE_RELEASED',
    members: { releasedAt: 'yesterday', retryAt: 1, resetsAt: null },
  },
] as const;

const explanations = (call: CallName): AnswerShape[] =>
  explanationCases.map(({ why, code, members }) => ({
    why,
    members: { ...refusal(call, code), ...members },
    expect: 'refused',
  }));

const ofLicense = (change: object) => ({ license: { ...signedIn.license, ...change } });

/** The members of a license that are absent if they have nothing to say. Version 1 has the same. */
export const licenseMemberCases = [
  { why: 'a license in its grace', members: { graceEndsAt: '2025-10-10T08:53:20.000Z' }, valid: true },
  {
    why: 'entitlements of each type',
    members: { entitlements: { 'export.pdf': true, seats: 5, channel: 'beta', none: '', offset: -1 } },
    valid: true,
  },
  { why: 'no entitlement in an object of them', members: { entitlements: {} }, valid: true },
  {
    why: 'metadata of each type',
    members: { metadata: { 'Gr\u00f6\u00dfe': 'XL', trial: false, batch: 7 } },
    valid: true,
  },
  { why: 'a grace that ends at no instant', members: { graceEndsAt: 'soon' }, valid: false },
  { why: 'a grace that ends null', members: { graceEndsAt: null }, valid: false },
  { why: 'entitlements null', members: { entitlements: null }, valid: false },
  { why: 'entitlements as a list', members: { entitlements: ['export.pdf'] }, valid: false },
  { why: 'an entitlement that is null', members: { entitlements: { seats: null } }, valid: false },
  { why: 'an entitlement that is an object', members: { entitlements: { seats: { max: 5 } } }, valid: false },
  { why: 'metadata as a text', members: { metadata: 'XL' }, valid: false },
  { why: 'a value of metadata that is a list', members: { metadata: { sizes: ['XL'] } }, valid: false },
] as const;

const licenseMembers = (call: CallName, within: (members: object) => object): AnswerShape[] =>
  licenseMemberCases.map(({ why, members, valid }) => changed(call, why, within(members), valid));

function allowances(call: CallName): AnswerShape[] {
  return [
    changed(call, 'moves at once, and any number', { nextMoveAt: null, movesLeft: null }, true),
    changed(call, 'no moves left', { movesLeft: 0 }, true),
    without(call, 'nextMoveAt'),
    without(call, 'movesLeft'),
    without(call, 'licenseId'),
    changed(call, 'the next move at no instant', { nextMoveAt: 'soon' }),
    changed(call, 'a negative number of moves', { movesLeft: -1 }),
    changed(call, 'a license id in upper case', { licenseId: licenseId.toUpperCase() }),
  ];
}

function lists(): AnswerShape[] {
  const call = 'devices.list';
  const listed = (why: string, change: object, valid = false) =>
    changed(call, why, { devices: devices.map((device) => ({ ...device, ...change })) }, valid);
  return [
    changed(call, 'no devices', { devices: [] }, true),
    without(call, 'next', true),
    listed('devices with an unknown member', { later: 1 }, true),
    listed('a device that is not the one that asks', { current: false }, true),
    without(call, 'devices'),
    without(call, 'deviceLimit'),
    changed(call, 'devices null', { devices: null }),
    changed(call, 'a device limit as a text', { deviceLimit: '3' }),
    changed(call, 'a next that is no UUID', { next: 'more' }),
    listed('a device without an id', { id: undefined }),
    listed('a device without a name, which is null where there is none', { name: undefined }),
    listed('a device without a platform, which is null where there is none', { platform: undefined }),
    listed('a device that was never seen', { lastSeenAt: null }),
    listed('a device that was first seen at no instant', { firstSeenAt: '2025-10-01' }),
    listed('a device that is current as a text', { current: 'true' }),
  ];
}

function releases(): AnswerShape[] {
  const call = 'devices.release';
  return [
    changed(call, 'the device that asks', { current: true }, true),
    without(call, 'releasedDeviceId'),
    changed(call, 'a released device that is no UUID', { releasedDeviceId: 'laptop' }),
    changed(call, 'current as a number', { current: 1 }),
  ];
}

function moves(): AnswerShape[] {
  const call = 'devices.move';
  return [
    without(call, 'releasedDeviceId', true),
    without(call, 'deviceId'),
    changed(call, 'a device id that is no UUID', { deviceId: 'laptop' }),
    changed(call, 'a released device null', { releasedDeviceId: null }),
  ];
}

const otherDevice = deviceHash(appId, 'device-2');
const otherLicense = '01890a5d-c2d3-7a4b-8e5f-60718293a4b6';
const leaseWith = (claims: object): string => leaseOf({ ...goodClaims, ...claims });

function licenses(call: 'validate' | 'lease'): AnswerShape[] {
  return [
    changed(call, 'never expires', { expiresAt: null }, true),
    changed(call, 'an unknown status', { status: 'later' }, true),
    without(call, 'lease', call === 'validate'),
    changed(call, 'lease null', { lease: null }),
    changed(call, 'a lease as a number', { lease: 1 }),
    { ...changed(call, 'a lease of this license and device', { lease }, true), stores: true },
    { ...changed(call, 'a lease of 32,769 characters', { lease: 'x'.repeat(32_769) }, true), stores: false },
    { ...changed(call, 'a lease that is an empty text', { lease: '' }, true), stores: false },
    {
      ...changed(call, 'a lease of another device', { lease: leaseWith({ dev: otherDevice }) }, true),
      stores: false,
    },
    {
      ...changed(call, 'a lease of another license', { lease: leaseWith({ sub: otherLicense }) }, true),
      stores: false,
    },
    without(call, 'status'),
    without(call, 'expiresAt'),
    without(call, 'subscriptionTier'),
    without(call, 'licenseId'),
    changed(call, 'success with status null', { status: null }),
    changed(call, 'an expiry that is no instant', { expiresAt: 'tomorrow' }),
    changed(call, 'an expiry with an offset', { expiresAt: '2026-10-09T08:53:20.000+00:00' }),
    changed(call, 'an expiry without a zone', { expiresAt: '2026-10-09T08:53:20.000' }),
    changed(call, 'an expiry on a day that does not exist', { expiresAt: '2026-02-30T08:53:20.000Z' }),
    changed(call, 'a negative tier', { subscriptionTier: -1 }),
    changed(call, 'a license id in upper case', { licenseId: '01890A5D-C2D3-7A4B-8E5F-60718293A4B5' }),
    {
      why: 'a refusal with the id of the license',
      members: { ...refusal(call, 'EXPIRED'), licenseId },
      expect: 'refused',
    },
  ];
}

function signIns(call: 'register' | 'login' | 'upgrade'): AnswerShape[] {
  const { user, license, session } = signedIn;
  return [
    changed(call, 'no license', { license: null }, true),
    changed(call, 'a license that never expires', { license: { ...license, expiresAt: null } }, true),
    changed(call, 'no email', { user: { ...user, email: null } }, true),
    changed(call, 'neither address nor device', { session: { ip: null, hwid: null } }, true),
    without(call, 'sessionToken'),
    without(call, 'expiresAt'),
    without(call, 'user'),
    without(call, 'license'),
    without(call, 'session'),
    changed(call, 'an empty token', { sessionToken: '' }),
    changed(call, 'a token that never expires', { expiresAt: null }),
    changed(call, 'a user id that is no UUID', { user: { ...user, id: 'ada' } }),
    changed(call, 'a user without email', { user: { ...user, email: undefined } }),
    changed(call, 'a license without status', { license: { ...license, status: undefined } }),
    changed(call, 'a license with a negative tier', { license: { ...license, subscriptionTier: -1 } }),
    changed(call, 'a session without address', { session: { ...session, ip: undefined } }),
  ];
}
