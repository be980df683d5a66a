import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, type Facts, isExpired, type RefusalCode } from '../../src/services/license/decide.ts';

/** Design §5, "Order of verdicts". */
const order = [
  'APP_DISABLED',
  'APP_OUTDATED',
  'IP_BANNED',
  'HWID_BANNED',
  'LICENSE_NOT_FOUND',
  'APP_MISMATCH',
  'BANNED',
  'EXPIRED',
  'HWID_MISMATCH',
] as const satisfies readonly RefusalCode[];

const now = new Date('2026-03-01T12:00:00.000Z');
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

/** A valid request except for these reasons to refuse it. */
function factsWith(...reasons: readonly RefusalCode[]): Facts {
  const has = (code: RefusalCode) => reasons.includes(code);
  return {
    application: {
      id: 'ours',
      status: has('APP_DISABLED') ? 'disabled' : 'active',
      version: '2.0.0',
      hwidLockEnabled: true,
      protocol: 'any',
    },
    client: {
      version: has('APP_OUTDATED') ? '1.9.0' : '2.0.0',
      protocol: 1,
      ipBanned: has('IP_BANNED'),
      hwidBanned: has('HWID_BANNED'),
    },
    license: has('LICENSE_NOT_FOUND')
      ? null
      : {
          applicationId: has('APP_MISMATCH') ? 'theirs' : 'ours',
          status: has('BANNED') ? 'banned' : 'active',
          durationSeconds: 60,
          expiresAt: later(has('EXPIRED') ? -1 : 60_000),
          hwid: has('HWID_MISMATCH') ? 'another device' : 'device',
          deviceHash: null,
        },
    hwid: 'device',
    now,
  };
}

type License = Exclude<Facts['license'], null | 'not-asked'>;

/** An acceptable request about a license with these fields. */
function about(license: Partial<License>, request: Partial<Facts> = {}): Facts {
  return {
    ...factsWith(),
    license: {
      applicationId: 'ours',
      status: 'active',
      durationSeconds: 60,
      expiresAt: null,
      hwid: null,
      deviceHash: null,
      ...license,
    },
    ...request,
  };
}

const unlocked = { ...factsWith().application, hwidLockEnabled: false };

describe('the order of verdicts', () => {
  test('a request without a reason to refuse it is OK', () => {
    expect(decide(factsWith())).toEqual({
      code: 'OK',
      effects: { activate: null, bindHwid: null },
      expiresAt: later(60_000),
    });
  });

  test.each(order)('%s alone refuses, and changes nothing', (code) => {
    expect(decide(factsWith(code))).toEqual({ code });
  });

  const pairs = order.flatMap((first, index) =>
    order.slice(index + 1).map((second) => [first, second] as const),
  );
  test.each(pairs)('%s comes before %s', (first, second) => {
    expect(decide(factsWith(second, first))).toEqual({ code: first });
  });

  test('of several reasons the first in the order decides', () => {
    fc.assert(
      fc.property(fc.subarray([...order]), (reasons) => {
        const first = order.find((code) => reasons.includes(code));
        expect(decide(factsWith(...reasons)).code).toBe(first ?? 'OK');
      }),
    );
  });
});

/** Random facts, with few values each so that they often coincide. */
const anyFacts: fc.Arbitrary<Facts> = fc.record({
  application: fc.record({
    id: fc.constantFrom('ours', 'theirs'),
    status: fc.constantFrom('active', 'disabled'),
    version: fc.constantFrom('1', '2'),
    hwidLockEnabled: fc.boolean(),
    protocol: fc.constantFrom('any', 'v2_only'),
  }),
  client: fc.option(
    fc.record({
      version: fc.constantFrom('1', '2'),
      protocol: fc.constantFrom(1, 2),
      ipBanned: fc.boolean(),
      hwidBanned: fc.boolean(),
    }),
    { freq: 5 },
  ),
  license: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant('not-asked' as const) },
    {
      weight: 8,
      arbitrary: fc.record({
        applicationId: fc.constantFrom('ours', 'theirs'),
        status: fc.constantFrom('unused', 'active', 'banned'),
        durationSeconds: fc.constantFrom(0, 1, 3600),
        expiresAt: fc.constantFrom(null, later(-1), now, later(1)),
        hwid: fc.constantFrom(null, 'a', 'b'),
        deviceHash: fc.constant(null),
      }),
    },
  ),
  hwid: fc.constantFrom(null, 'a', 'b'),
  now: fc.constant(now),
});

/** Each reason as worded in the interface document. */
function reasonsAgainst({ application, client, license, hwid }: Facts): RefusalCode[] {
  const found: [RefusalCode, boolean][] = [
    ['APP_DISABLED', client !== null && application.status === 'disabled'],
    ['APP_OUTDATED', client !== null && client.version !== application.version],
    ['APP_OUTDATED', application.protocol === 'v2_only' && client?.protocol === 1],
    ['IP_BANNED', client?.ipBanned === true],
    ['HWID_BANNED', client?.hwidBanned === true],
    ['LICENSE_NOT_FOUND', license === null],
  ];
  if (license !== null && license !== 'not-asked') {
    const { applicationId, status, expiresAt } = license;
    const over = expiresAt !== null && expiresAt.getTime() <= now.getTime();
    const sentAndLocked = hwid !== null && application.hwidLockEnabled;
    found.push(
      ['APP_MISMATCH', applicationId !== application.id],
      ['BANNED', status === 'banned'],
      ['EXPIRED', status === 'active' && over],
      ['HWID_MISMATCH', sentAndLocked && license.hwid !== null && license.hwid !== hwid],
    );
  }
  return found.filter(([, holds]) => holds).map(([code]) => code);
}

describe('on random facts', () => {
  test('the verdict is the first reason in the order, and OK without one', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const reasons = reasonsAgainst(facts);
        const first = order.find((code) => reasons.includes(code));
        expect(decide(facts).code).toBe(first ?? 'OK');
      }),
      { numRuns: 2000 },
    );
  });

  test('only OK has effects; it starts only unused licenses and never replaces a bound device', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decide(facts);
        if (decision.code !== 'OK') {
          expect(decision).toEqual({ code: decision.code });
          return;
        }
        const { activate, bindHwid } = decision.effects;
        const license = facts.license === 'not-asked' ? null : facts.license;
        expect(activate !== null).toBe(license?.status === 'unused');
        if (bindHwid !== null) {
          expect(facts.application.hwidLockEnabled).toBe(true);
          expect(license?.hwid).toBeNull();
          expect(bindHwid).toBe(facts.hwid);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('the same facts result in the same verdict, and are not changed', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const before = structuredClone(facts);
        expect(decide(facts)).toEqual(decide(facts));
        expect(facts).toEqual(before);
      }),
    );
  });
});

describe('first use', () => {
  test('starts the term', () => {
    expect(decide(about({ status: 'unused', durationSeconds: 90 }))).toMatchObject({
      code: 'OK',
      effects: { activate: { expiresAt: later(90_000) } },
      expiresAt: later(90_000),
    });
  });

  test('of a license of 0 seconds starts one that never expires', () => {
    expect(decide(about({ status: 'unused', durationSeconds: 0 }))).toMatchObject({
      code: 'OK',
      effects: { activate: { expiresAt: null } },
      expiresAt: null,
    });
  });

  test('can start the longest possible term', () => {
    const durationSeconds = 2_147_483_647;
    expect(decide(about({ status: 'unused', durationSeconds }))).toMatchObject({
      expiresAt: later(durationSeconds * 1000),
    });
  });

  test('without a HWID starts the term and binds no device', () => {
    expect(decide(about({ status: 'unused' }, { hwid: null }))).toMatchObject({
      effects: { activate: { expiresAt: later(60_000) }, bindHwid: null },
    });
  });

  test('happens once: a used license keeps its expiry', () => {
    expect(decide(about({ expiresAt: later(5) }))).toMatchObject({
      effects: { activate: null },
      expiresAt: later(5),
    });
  });

  test('in the dashboard, without a client, is decided by the license alone', () => {
    const dashboard: Partial<Facts> = {
      application: { ...factsWith().application, status: 'disabled' },
      client: null,
      hwid: null,
    };
    expect(decide(about({ status: 'unused' }, dashboard))).toMatchObject({
      code: 'OK',
      effects: { activate: { expiresAt: later(60_000) }, bindHwid: null },
    });
    expect(decide(about({ status: 'banned' }, dashboard))).toEqual({ code: 'BANNED' });
  });
});

describe('expiry', () => {
  test.each([
    ['a millisecond before its end', 1, 'OK'],
    ['at the very millisecond of its end', 0, 'EXPIRED'],
    ['a millisecond after its end', -1, 'EXPIRED'],
  ])('%s an active license answers as it should', (_when, untilEnd, code) => {
    expect(decide(about({ expiresAt: later(untilEnd) })).code).toBe(code);
    expect(isExpired({ status: 'active', expiresAt: later(untilEnd) }, now)).toBe(code === 'EXPIRED');
  });

  test('a license without an expiry does not expire', () => {
    expect(decide(about({ expiresAt: null })).code).toBe('OK');
  });

  test('applies to active licenses only: a banned one is banned', () => {
    expect(isExpired({ status: 'banned', expiresAt: later(-1) }, now)).toBe(false);
    expect(isExpired({ status: 'unused', expiresAt: null }, now)).toBe(false);
  });

  test('with an invalid instant counts as expired', () => {
    expect(isExpired({ status: 'active', expiresAt: new Date(Number.NaN) }, now)).toBe(true);
  });
});

describe('the device', () => {
  const bound = (license: Partial<License>, request: Partial<Facts> = {}) => {
    const decision = decide(about(license, request));
    return decision.code === 'OK' ? decision.effects.bindHwid : decision.code;
  };

  test('is bound if one was sent and the lock is on', () => {
    expect(bound({ hwid: null })).toBe('device');
    expect(bound({ hwid: null, status: 'unused' })).toBe('device');
  });

  test('is not bound if none was sent, the lock is off, or one is already bound', () => {
    expect(bound({ hwid: null }, { hwid: null })).toBeNull();
    expect(bound({ hwid: null }, { application: unlocked })).toBeNull();
    expect(bound({ hwid: 'device' })).toBeNull();
  });

  test('that differs from the bound one in any way is refused', () => {
    for (const hwid of ['Device', 'device ', 'devic', 'device\u0301']) {
      expect(bound({ hwid: 'device' }, { hwid })).toBe('HWID_MISMATCH');
    }
  });

  test('is not checked if none was sent or the lock is off', () => {
    expect(bound({ hwid: 'another' }, { hwid: null })).toBeNull();
    expect(bound({ hwid: 'another' }, { application: unlocked })).toBeNull();
  });
});

test('a request without a license is decided by application and client', () => {
  expect(decide({ ...factsWith(), license: 'not-asked' })).toEqual({
    code: 'OK',
    effects: { activate: null, bindHwid: null },
    expiresAt: null,
  });
  expect(decide({ ...factsWith('IP_BANNED'), license: 'not-asked' })).toEqual({ code: 'IP_BANNED' });
});
