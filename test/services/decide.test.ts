import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decide,
  type Facts,
  isExpired,
  type LicenseFacts,
  type RefusalCode,
} from '../../src/services/license/decide.ts';
import type { LicenseDevice } from '../../src/services/license/license-devices.ts';

/** SPEC §10. */
const order = [
  'APP_DISABLED',
  'APP_OUTDATED',
  'IP_BANNED',
  'HWID_BANNED',
  'LICENSE_NOT_FOUND',
  'APP_MISMATCH',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
] as const satisfies readonly RefusalCode[];

const now = new Date('2026-03-01T12:00:00.000Z');
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

/** A device that was used a second ago. */
const aDevice = (hwid: string, about: Partial<LicenseDevice> = {}): LicenseDevice => ({
  id: hwid,
  hwid,
  deviceHash: null,
  lastSeenAt: later(-1000),
  releasedAt: null,
  ...about,
});

const plain: Omit<LicenseFacts, 'applicationId'> = {
  status: 'active',
  durationSeconds: 60,
  expiresAt: null,
  graceSeconds: 0,
  suspendedAt: null,
  clockStoppedAt: null,
  keyValidUntil: null,
  deviceLimit: 1,
  selfService: 'off',
  releaseIdleAfterSeconds: null,
  devices: [],
};

/** The devices of a license that refuses `device` for these reasons. A release comes before a full license. */
function devicesFor(has: (code: RefusalCode) => boolean): Partial<LicenseFacts> {
  const deviceLimit = has('DEVICE_LIMIT') && !has('HWID_MISMATCH') ? 2 : 1;
  const others = has('DEVICE_LIMIT') || has('HWID_MISMATCH') ? ['another', 'a third'] : [];
  if (has('DEVICE_RELEASED')) {
    const released = aDevice('device', { releasedAt: later(-5) });
    return { deviceLimit, selfService: 'key', devices: [released, ...others.map((hwid) => aDevice(hwid))] };
  }
  return { deviceLimit, devices: (others.length > 0 ? others : ['device']).map((hwid) => aDevice(hwid)) };
}

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
          ...plain,
          ...devicesFor(has),
          applicationId: has('APP_MISMATCH') ? 'theirs' : 'ours',
          status: has('BANNED') ? 'banned' : 'active',
          suspendedAt: has('SUSPENDED') ? later(-10) : null,
          expiresAt: later(has('EXPIRED') ? -1 : 60_000),
        },
    hwid: 'device',
    now,
  };
}

/** An acceptable request about a license with these fields. */
function about(license: Partial<LicenseFacts>, request: Partial<Facts> = {}): Facts {
  return {
    ...factsWith(),
    license: { ...plain, applicationId: 'ours', ...license },
    ...request,
  };
}

const unlocked = { ...factsWith().application, hwidLockEnabled: false };

describe('the order of verdicts', () => {
  test('a request without a reason to refuse it is OK', () => {
    expect(decide(factsWith())).toEqual({
      code: 'OK',
      effects: { activate: null, device: null },
      expiresAt: later(60_000),
      graceEndsAt: null,
    });
  });

  test.each(order)('%s alone refuses, and changes nothing', (code) => {
    expect(decide(factsWith(code))).toEqual(refusalOf(code));
  });

  const refusalOf = (code: RefusalCode) =>
    code === 'DEVICE_RELEASED' ? { code, releasedAt: later(-5) } : { code };

  const pairs = order.flatMap((first, index) =>
    order.slice(index + 1).map((second) => [first, second] as const),
  );
  test.each(pairs)('%s comes before %s', (first, second) => {
    expect(decide(factsWith(second, first))).toEqual(refusalOf(first));
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
        expiresAt: fc.constantFrom(null, later(-2000), later(-1), now, later(1)),
        graceSeconds: fc.constantFrom(0, 0, 1),
        suspendedAt: fc.constantFrom(null, null, null, later(-1)),
        clockStoppedAt: fc.constant(null),
        keyValidUntil: fc.constantFrom(null, null, null, now, later(1)),
        deviceLimit: fc.constantFrom(1, 2, 3),
        selfService: fc.constantFrom('off', 'key', 'account'),
        releaseIdleAfterSeconds: fc.constantFrom(null, 1, 3600),
        devices: fc.uniqueArray(
          fc
            .tuple(
              fc.constantFrom('a', 'b', 'c'),
              fc.constantFrom(-500, -60_500, -61_000, -62_000),
              fc.boolean(),
            )
            .map(([hwid, seen, isReleased]) =>
              aDevice(hwid, { lastSeenAt: later(seen), releasedAt: isReleased ? later(-7) : null }),
            ),
          { selector: ({ hwid, releasedAt }) => `${hwid} ${releasedAt !== null}` },
        ),
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
    const { applicationId, status, expiresAt, graceSeconds, keyValidUntil, deviceLimit } = license;
    const isPastExpiry = expiresAt !== null && expiresAt.getTime() <= now.getTime();
    const ended = expiresAt !== null && expiresAt.getTime() + graceSeconds * 1000 <= now.getTime();
    const active = license.devices.filter(({ releasedAt }) => releasedAt === null);
    const isUnbound =
      hwid !== null && application.hwidLockEnabled && !active.some((each) => each.hwid === hwid);
    const wasReleased = license.devices.some((each) => each.hwid === hwid && each.releasedAt !== null);
    const idleAfter = license.releaseIdleAfterSeconds ?? Number.POSITIVE_INFINITY;
    const inUse = active.filter(
      ({ lastSeenAt }) => now.getTime() - lastSeenAt.getTime() < idleAfter * 1000 + 60_000,
    );
    const isFull = inUse.length >= deviceLimit;
    found.push(
      ['LICENSE_NOT_FOUND', keyValidUntil !== null && keyValidUntil.getTime() <= now.getTime()],
      ['LICENSE_NOT_FOUND', keyValidUntil !== null && status === 'active' && isPastExpiry],
      ['APP_MISMATCH', applicationId !== application.id],
      ['BANNED', status === 'banned'],
      ['SUSPENDED', license.suspendedAt !== null],
      ['EXPIRED', status === 'active' && ended],
      ['DEVICE_RELEASED', isUnbound && wasReleased && (isFull || license.selfService !== 'off')],
      ['HWID_MISMATCH', isUnbound && isFull && deviceLimit === 1],
      ['DEVICE_LIMIT', isUnbound && isFull && deviceLimit > 1],
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

  test('only OK has effects; it starts only unused licenses, and binds a device only where there is a place', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decide(facts);
        if (decision.code !== 'OK') {
          expect(decision).not.toHaveProperty('effects');
          return;
        }
        const { activate, device } = decision.effects;
        const license = facts.license === 'not-asked' ? null : facts.license;
        expect(activate !== null).toBe(license?.status === 'unused');
        if (device === null) return;
        expect(facts.application.hwidLockEnabled).toBe(true);
        expect(facts.hwid).not.toBeNull();
        const active = license?.devices.filter(({ releasedAt }) => releasedAt === null) ?? [];
        expect(active.map(({ hwid }) => hwid)).not.toContain(facts.hwid);
        const instead = device.kind === 'new' ? device.instead : [];
        expect(active).toEqual(expect.arrayContaining([...instead]));
        // Released are only as many as needed.
        const kept = active.length - instead.length;
        expect(kept).toBeLessThan(license?.deviceLimit ?? 0);
        if (instead.length > 0) expect(kept + 1).toBe(license?.deviceLimit);
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
      effects: { activate: { expiresAt: later(60_000) }, device: null },
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
      effects: { activate: { expiresAt: later(60_000) }, device: null },
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

describe('grace', () => {
  test.each([
    ['a millisecond before the expiry', -1, 'OK', false],
    ['at the very millisecond of the expiry', 0, 'OK', true],
    ['a millisecond before its end', 59_999, 'OK', true],
    ['at the very millisecond of its end', 60_000, 'EXPIRED', false],
  ])('%s', (_when, sinceExpiry, code, isGrace) => {
    const expiresAt = later(-sinceExpiry);
    const decision = decide(about({ expiresAt, graceSeconds: 60 }));
    const graceEndsAt = isGrace ? new Date(expiresAt.getTime() + 60_000) : null;
    expect(decision).toMatchObject(code === 'OK' ? { code, expiresAt, graceEndsAt } : { code });
  });
});

describe('the device', () => {
  const bound = (license: Partial<LicenseFacts>, request: Partial<Facts> = {}) => {
    const decision = decide(about(license, request));
    return decision.code === 'OK' ? (decision.effects.device?.kind ?? null) : decision.code;
  };
  const boundTo = (...hwids: readonly string[]) => ({ devices: hwids.map((hwid) => aDevice(hwid)) });

  test('is bound if one was sent and the lock is on', () => {
    expect(bound({})).toBe('new');
    expect(bound({ status: 'unused' })).toBe('new');
  });

  test('is not bound if none was sent, the lock is off, or one is already bound', () => {
    expect(bound({}, { hwid: null })).toBeNull();
    expect(bound({}, { application: unlocked })).toBeNull();
    expect(bound(boundTo('device'))).toBeNull();
  });

  test('that differs from the bound one in any way is refused', () => {
    for (const hwid of ['Device', 'device ', 'devic', 'device\u0301']) {
      expect(bound(boundTo('device'), { hwid })).toBe('HWID_MISMATCH');
    }
  });

  test('is not checked if none was sent or the lock is off', () => {
    expect(bound(boundTo('another'), { hwid: null })).toBeNull();
    expect(bound(boundTo('another'), { application: unlocked })).toBeNull();
  });

  test('takes a place while there is one', () => {
    expect(bound({ ...boundTo('one', 'two'), deviceLimit: 3 })).toBe('new');
    expect(bound({ ...boundTo('one', 'two', 'three'), deviceLimit: 3 })).toBe('DEVICE_LIMIT');
    expect(bound({ ...boundTo('one', 'two', 'device'), deviceLimit: 1 })).toBeNull();
  });

  test('takes the place of the device that was idle for longest', () => {
    const idle = aDevice('idle', { lastSeenAt: later(-70_000) });
    const longer = aDevice('longer', { lastSeenAt: later(-71_000) });
    const license = { deviceLimit: 2, releaseIdleAfterSeconds: 10, devices: [idle, longer] };
    expect(decide(about(license))).toMatchObject({ effects: { device: { kind: 'new', instead: [longer] } } });
    expect(bound({ ...license, releaseIdleAfterSeconds: 12 })).toBe('DEVICE_LIMIT');
  });

  test('that was released returns if there is room and customers cannot move devices', () => {
    const devices = [aDevice('device', { releasedAt: later(-1) })];
    expect(bound({ devices })).toBe('new');
    expect(bound({ devices, selfService: 'key' })).toBe('DEVICE_RELEASED');
    expect(bound({ devices: [...devices, aDevice('another')] })).toBe('DEVICE_RELEASED');
    expect(bound({ devices: [...devices, aDevice('device')], selfService: 'key' })).toBeNull();
  });
});

test('a request without a license is decided by application and client', () => {
  expect(decide({ ...factsWith(), license: 'not-asked' })).toEqual({
    code: 'OK',
    effects: { activate: null, device: null },
    expiresAt: null,
    graceEndsAt: null,
  });
  expect(decide({ ...factsWith('IP_BANNED'), license: 'not-asked' })).toEqual({ code: 'IP_BANNED' });
});
