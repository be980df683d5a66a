import { encodeBase64 } from '../../protocol/base64.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../protocol/canonical-json.ts';
import type { VerdictCode } from '../../protocol/messages.ts';
import type { AnswerVector } from './answers.ts';
import { type ClientAuthVerb, goodClientResult } from './client-auth-exchange.ts';
import { goodAnswer, now, sealAnswer } from './exchange.ts';
import { fixedBytes } from './material.ts';
import { licenseMemberCases } from './v2/answer-shapes.ts';

const untrusted = 'untrusted-answer';
type Cases = (why: string, members: JsonObject, expect: string) => AnswerVector;

/** Answers to the verb's exchange, with the result of a client that requested the echo (SPEC §7). */
export function clientAuthAnswers(verb: ClientAuthVerb, refusals: readonly VerdictCode[]): AnswerVector[] {
  const good = goodClientResult(verb);
  const answer: Cases = (why, members, expect) => {
    const text = canonicalJson(members);
    const trusted = expect === untrusted || expect === 'clock' ? {} : { innerAnswer: text };
    return { why, ...trusted, answer: sealAnswer(`${verb} ${why}`, text), expect };
  };
  const changed = (why: string, change: JsonObject, expect: string) =>
    answer(why, { ...good, ...change }, expect);
  return [
    ...successes(good, changed),
    ...refused(good, answer, refusals),
    ...bindings(verb, good, changed),
    // The three verbs share one shape, so one of them has its cases.
    ...(verb === 'login' ? shapes(good, changed, answer) : []),
    answer('the success of validate', { ...goodAnswer, nonce: good.nonce }, untrusted),
    { why: 'the inner object, not sealed', answer: good, expect: untrusted },
  ];
}

type Good = ReturnType<typeof goodClientResult>;

function successes({ user, license, session }: Good, changed: Cases): AnswerVector[] {
  return [
    changed('good', {}, 'valid'),
    changed('no license: null', { license: null }, 'valid'),
    changed('a license that never expires', { license: { ...license, expiresAt: null } }, 'valid'),
    changed('no email: null', { user: { ...user, email: null } }, 'valid'),
    changed('neither address nor device: null', { session: { ip: null, hwid: null } }, 'valid'),
    changed(
      'unknown members at every depth',
      {
        later: [1],
        user: { ...user, later: 1 },
        license: { ...license, later: { is: 'ignored' } },
        session: { ...session, later: null },
      },
      'valid',
    ),
    changed('a status that the client does not know', { license: { ...license, status: 'later' } }, 'valid'),
  ];
}

function refused(good: Good, answer: Cases, refusals: readonly VerdictCode[]): AnswerVector[] {
  const { sessionId, timestamp, v, nonce } = good;
  const bound = { success: false, message: 'Nein', sessionId, timestamp, v, nonce };
  return [
    ...refusals.map((code) => answer(`refused: ${code}`, { ...bound, code }, 'refused')),
    answer('refused with a code that the client does not know', { ...bound, code: 'LATER_CODE' }, 'refused'),
    answer(
      'refused, with all that a success has: they are unknown members',
      { ...good, success: false, code: 'EXPIRED' },
      'refused',
    ),
    answer('failure with the code OK', { ...bound, code: 'OK' }, untrusted),
    answer('failure without a code', bound, untrusted),
    answer('success without anything that a success has', { ...bound, success: true, code: 'OK' }, untrusted),
  ];
}

function bindings(verb: ClientAuthVerb, good: Good, changed: Cases): AnswerVector[] {
  const otherNonce = encodeBase64(fixedBytes('other', 16));
  const signingSeed = fixedBytes('other seed', 32);
  return [
    changed('another nonce', { nonce: otherNonce }, untrusted),
    changed('another session', { sessionId: 'other' }, untrusted),
    changed('61 seconds behind', { timestamp: now - 61 }, 'clock'),
    changed('61 seconds ahead', { timestamp: now + 61 }, 'clock'),
    changed(
      'an old recording: stale and with another nonce',
      { nonce: otherNonce, timestamp: now - 3600 },
      untrusted,
    ),
    {
      why: 'signed with another key',
      answer: sealAnswer(`${verb} other seed`, canonicalJson(good), { signingSeed }),
      expect: untrusted,
    },
  ];
}

const required = ['code', 'message', 'sessionToken', 'expiresAt', 'user', 'license', 'session', 'sessionId'];

function shapes(good: Good, changed: Cases, answer: Cases): AnswerVector[] {
  const { user, license, session } = good;
  const bad = (why: string, change: JsonObject) => changed(why, change, untrusted);
  const licensed = (why: string, change: JsonObject) => bad(why, { license: { ...license, ...change } });
  const instants: readonly [why: string, value: JsonValue][] = [
    ['null', null],
    ['a number', 1_760_604_800],
    ['no instant', 'tomorrow'],
    ['a date alone', '2025-10-16'],
    ['without a zone', '2025-10-16T08:53:20.000'],
    ['with an offset', '2025-10-16T08:53:20.000+00:00'],
    ['a day that the calendar has not', '2025-02-30T08:53:20.000Z'],
  ];
  return [
    ...required.map((name) => answer(`no ${name}`, omit(good, name), untrusted)),
    bad('success with another code than OK', { code: 'BANNED' }),
    bad('success as text', { success: 'true' }),
    bad('version 2', { v: 2 }),
    bad('an empty token', { sessionToken: '' }),
    bad('a token of 1025 characters', { sessionToken: 't'.repeat(1025) }),
    bad('the token is a number', { sessionToken: 1 }),
    ...instants.map(([why, expiresAt]) => bad(`the end of the token is ${why}`, { expiresAt })),
    bad('user null', { user: null }),
    bad('a user without an id', { user: omit(user, 'id') }),
    bad('a user whose id is in upper case', { user: { ...user, id: user.id.toUpperCase() } }),
    bad('a user without email, which is null where there is none', { user: omit(user, 'email') }),
    bad('a user without an application', { user: omit(user, 'applicationId') }),
    licensed('a license with a negative tier', { subscriptionTier: -1 }),
    licensed('a license with a tier as text', { subscriptionTier: '2' }),
    licensed('a license with status null', { status: null }),
    licensed('a license whose expiry is no instant', { expiresAt: 'never' }),
    ...licenseMemberCases.map(({ why, members, valid }) =>
      changed(why, { license: { ...license, ...members } }, valid ? 'valid' : untrusted),
    ),
    bad('a license without a tier', { license: omit(license, 'subscriptionTier') }),
    bad('a license without an expiry, which is null where it never expires', {
      license: omit(license, 'expiresAt'),
    }),
    bad('a license as a list', { license: [license] }),
    bad('session null', { session: null }),
    bad('a session without a device, which is null where there is none', { session: omit(session, 'hwid') }),
  ];
}

function omit(members: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([member]) => member !== name));
}
