import { deviceHash } from '../../../protocol/v2/device-hash.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId } from '../exchange.ts';
import { goodAnswer, licenseId, refusal, signedIn } from './calls.ts';
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
  const isLicense = call === 'validate' || call === 'lease';
  return [...verdicts(call), ...(isLicense ? licenses(call) : signIns(call))];
}

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
