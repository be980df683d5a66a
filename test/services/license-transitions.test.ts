import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, latestExpiry } from '../../src/services/license/decide.ts';
import * as transitions from '../../src/services/license/transitions.ts';
import {
  requireChange,
  type Stateful,
  type TransitionOutcome,
} from '../../src/services/license/transitions.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const second = 1000;

const unused: Stateful = {
  status: 'unused',
  activatedAt: null,
  durationSeconds: 60,
  expiresAt: null,
  suspendedAt: null,
  clockStoppedAt: null,
  subscriptionTier: 1,
  tags: ['a'],
};
const active: Stateful = {
  ...unused,
  status: 'active',
  activatedAt: at(-10 * second),
  expiresAt: at(50 * second),
};

/** The license after a transition, which must be allowed. */
const applied = (license: Stateful, outcome: TransitionOutcome): Stateful => ({
  ...license,
  ...requireChange(outcome).data,
});

const refusalOf = (outcome: TransitionOutcome) => ('refusal' in outcome ? outcome.refusal.code : 'allowed');

const suspend = (license: Stateful, stopClock: boolean, when: Date) =>
  applied(license, transitions.suspend(license, { stopClock }, when));
const reinstate = (license: Stateful, when: Date) =>
  applied(license, transitions.reinstate(license, undefined, when));

describe('a suspension that stops the clock', () => {
  test('keeps the remaining term to the millisecond, over a hundred of any lengths', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(1e9), fc.nat(1e9)), { minLength: 100, maxLength: 100 }),
        (spans) => {
          let license: Stateful = { ...active, expiresAt: at(2e11) };
          let time = 0;
          let used = 0;
          for (const [running, stopped] of spans) {
            time += running;
            used += running;
            license = suspend(license, true, at(time));
            time += stopped;
            license = reinstate(license, at(time));
          }
          expect(license.expiresAt?.getTime()).toBe(at(time + 2e11 - used).getTime());
        },
      ),
      { numRuns: 50 },
    );
  });

  test('takes nothing away if the clock was set back meanwhile', () => {
    const license = reinstate(suspend(active, true, now), at(-5 * second));
    expect(license.expiresAt).toEqual(active.expiresAt);
  });

  test('revives no license that had expired, and leaves one in its grace as much of it', () => {
    const license = { ...active, expiresAt: at(-5 * second) };
    expect(reinstate(suspend(license, true, now), at(100 * second)).expiresAt).toEqual(at(95 * second));
  });

  test('ends at the latest possible expiry', () => {
    const license = { ...active, expiresAt: new Date(latestExpiry.getTime() - 1) };
    expect(reinstate(suspend(license, true, now), at(second)).expiresAt).toEqual(latestExpiry);
  });

  test.each([
    ['from_now', at(37 * second)],
    ['from_expiry', at(87 * second)],
    ['from_now_if_expired', at(87 * second)],
  ] as const)('counts %s from when it was stopped', (basis, expiresAt) => {
    const stopped = suspend(active, true, now);
    const renewed = applied(stopped, transitions.renew(stopped, { seconds: 37, basis }, at(1e9)));
    expect(renewed.expiresAt).toEqual(expiresAt);
    const left = (expiresAt?.getTime() ?? 0) - now.getTime();
    expect(reinstate(renewed, at(2e9)).expiresAt).toEqual(at(2e9 + left));
  });

  test('is not expired for an extension, however long it lasts', () => {
    const stopped = suspend(active, true, now);
    expect(applied(stopped, transitions.extend(stopped, { seconds: 5 }, at(1e9))).expiresAt).toEqual(
      at(55 * second),
    );
    const running = suspend(active, false, now);
    expect(refusalOf(transitions.extend(running, { seconds: 5 }, at(1e9)))).toBe('INVALID_TRANSITION');
  });
});

describe('a suspension that does not', () => {
  test('leaves the expiry where it is', () => {
    expect(reinstate(suspend(active, false, now), at(10 * second)).expiresAt).toEqual(active.expiresAt);
  });
});

describe('renewing', () => {
  const expired = { ...active, expiresAt: at(-5 * second) };
  test.each([
    ['from_expiry', active, at(80 * second), false],
    ['from_now', active, at(30 * second), true],
    ['from_now_if_expired', active, at(80 * second), false],
    ['from_expiry', expired, at(25 * second), false],
    ['from_now', expired, at(30 * second), false],
    ['from_now_if_expired', expired, at(30 * second), false],
    ['from_now_if_expired', { ...active, expiresAt: now }, at(30 * second), false],
  ] as const)('%s gives %o the expiry %o', (basis, license, expiresAt, revokesLeases) => {
    const change = requireChange(transitions.renew(license, { seconds: 30, basis }, now));
    expect(change).toMatchObject({ data: { expiresAt }, revokesLeases });
  });

  test('makes the term of an unused license longer, which then begins with its first use', () => {
    const basis = 'from_now';
    expect(applied(unused, transitions.renew(unused, { seconds: 30, basis }, now))).toEqual({
      ...unused,
      durationSeconds: 90,
    });
  });

  test.each([
    ['an unlimited license', { ...active, expiresAt: null }, 'INVALID_TRANSITION'],
    ['an unused unlimited license', { ...unused, durationSeconds: 0 }, 'INVALID_TRANSITION'],
    ['beyond the longest term', { ...unused, durationSeconds: 2_147_483_618 }, 'VALIDATION_FAILED'],
    ['beyond the latest expiry', { ...active, expiresAt: latestExpiry }, 'VALIDATION_FAILED'],
  ] as const)('is refused for %s', (_name, license, code) => {
    const params = { seconds: 30, basis: 'from_expiry' } as const;
    expect(refusalOf(transitions.renew(license, params, now))).toBe(code);
  });

  test('reaches the latest expiry', () => {
    const license = { ...active, expiresAt: new Date(latestExpiry.getTime() - 30_000) };
    const params = { seconds: 30, basis: 'from_expiry' } as const;
    expect(applied(license, transitions.renew(license, params, now)).expiresAt).toEqual(latestExpiry);
  });
});

describe('lifting a ban', () => {
  test.each([
    ['unused', unused],
    ['active', active],
  ] as const)('makes a license %s that was so before', (status, license) => {
    const banned = applied(license, transitions.ban(license, undefined, now));
    expect(applied(banned, transitions.unban(banned, undefined, now))).toEqual({ ...license, status });
  });

  test('keeps a suspension, which cannot end before', () => {
    const suspended = suspend(active, true, now);
    const banned = applied(suspended, transitions.ban(suspended, undefined, now));
    expect(refusalOf(transitions.reinstate(banned, undefined, now))).toBe('INVALID_TRANSITION');
    expect(applied(banned, transitions.unban(banned, undefined, now))).toEqual(suspended);
  });
});

describe('tags', () => {
  test('are added once, and removed', () => {
    const more = applied(active, transitions.addTags(active, { tags: ['b', 'a', 'b'] }, now));
    expect(more.tags).toEqual(['a', 'b']);
    expect(applied(more, transitions.removeTags(more, { tags: ['a', 'c'] }, now)).tags).toEqual(['b']);
    expect(refusalOf(transitions.addTags(more, { tags: ['a'] }, now))).toBe('INVALID_TRANSITION');
    expect(refusalOf(transitions.removeTags(more, { tags: ['c'] }, now))).toBe('INVALID_TRANSITION');
  });

  test('are at most 20', () => {
    const tags = Array.from({ length: 20 }, (_, index) => `t${index}`);
    expect(refusalOf(transitions.addTags(active, { tags }, now))).toBe('VALIDATION_FAILED');
    expect(refusalOf(transitions.addTags(active, { tags: tags.slice(1) }, now))).toBe('allowed');
  });
});

test('no sequence of transitions makes a license valid that its developer did not reinstate and unban', () => {
  const step = fc.constantFrom('ban', 'unban', 'suspend', 'stop', 'reinstate', 'renew', 'extend');
  fc.assert(
    fc.property(fc.constantFrom(unused, active), fc.array(step), (first, steps) => {
      let license = first;
      let isBanned = false;
      let isSuspended = false;
      for (const [index, name] of steps.entries()) {
        const outcome = outcomeOf(name, license, at(index * second));
        if ('refusal' in outcome) continue;
        if (name === 'ban' || name === 'unban') isBanned = name === 'ban';
        if (name === 'suspend' || name === 'stop') isSuspended = true;
        if (name === 'reinstate') isSuspended = false;
        license = applied(license, outcome);
      }
      expect(license.status === 'banned').toBe(isBanned);
      expect(license.suspendedAt !== null).toBe(isSuspended);
      if (license.suspendedAt === null) expect(license.clockStoppedAt).toBeNull();
      const code = decide({
        application: { id: 'ours', status: 'active', version: '1', hwidLockEnabled: true, protocol: 'any' },
        client: null,
        license: {
          ...license,
          applicationId: 'ours',
          graceSeconds: 0,
          keyValidUntil: null,
          deviceLimit: 1,
          selfService: 'off',
          releaseIdleAfterSeconds: null,
          devices: [],
        },
        hwid: null,
        now,
      }).code;
      if (isBanned) expect(code).toBe('BANNED');
      else if (isSuspended) expect(code).toBe('SUSPENDED');
      else expect(code).toBe('OK');
    }),
  );
});

function outcomeOf(name: string, license: Stateful, when: Date): TransitionOutcome {
  switch (name) {
    case 'ban':
      return transitions.ban(license, undefined, when);
    case 'unban':
      return transitions.unban(license, undefined, when);
    case 'suspend':
    case 'stop':
      return transitions.suspend(license, { stopClock: name === 'stop' }, when);
    case 'reinstate':
      return transitions.reinstate(license, undefined, when);
    case 'renew':
      return transitions.renew(license, { seconds: 30, basis: 'from_expiry' }, when);
    default:
      return transitions.extend(license, { seconds: 30 }, when);
  }
}
