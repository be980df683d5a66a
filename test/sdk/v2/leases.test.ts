import { describe, expect, onTestFinished, vi } from 'vitest';
import { verdictCodes } from '../../../src/protocol/messages.ts';
import { createClient } from '../../../src/sdk/index.ts';
import { json } from '../stand-in.ts';
import { test } from './fixture.ts';
import {
  claimsOf,
  createDevice,
  day,
  disconnect,
  hour,
  hwid,
  issueLeases,
  licenseKey,
  minute,
  term,
} from './lease-device.ts';
import { appId, type CallContext, type StandIn, unsigned } from './stand-in.ts';

const fromService = { kind: 'verdict', valid: true, source: 'service' };
const fromLease = { kind: 'verdict', valid: true, source: 'lease' };

/** A device that has a lease, and then no network. */
async function leased(
  server: StandIn,
  ...more: Parameters<typeof createDevice> extends [unknown, ...infer R] ? R : never
) {
  const device = createDevice(server, ...more);
  issueLeases(server);
  expect(await device.validate()).toMatchObject(fromService);
  disconnect(server);
  return device;
}

describe('a lease', () => {
  test('is not asked for by default, nor used', async ({ server }) => {
    const device = await leased(server);
    const plain = createClient({ ...server.options, store: device.store });
    const outcome = await plain.validate(licenseKey, { hwid });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'network' });
    expect(outcome).not.toHaveProperty('lease');
    issueLeases(server);
    await plain.validate(licenseKey, { hwid });
    expect(server.calls.at(-1)?.request).not.toHaveProperty('lease');
  });

  test('is asked for with the first question about a device, and stands in for an answer', async ({
    server,
  }) => {
    const device = await leased(server);
    expect(server.calls[0]?.request).toMatchObject({ call: 'validate', lease: true, hwid });
    expect(await device.validate()).toEqual({
      kind: 'verdict',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      status: 'active',
      expiresAt: new Date('2030-01-01T00:00:00.000Z'),
      subscriptionTier: 3,
      graceEndsAt: null,
      entitlements: { seats: 5, 'export.pdf': true, edition: 'pro' },
      metadata: {},
      source: 'lease',
      leaseExpiresAt: new Date((Math.floor(server.clock / 1000) + term) * 1000),
    });
  });

  test('is not asked for without a device', async ({ server }) => {
    const device = createDevice(server);
    issueLeases(server);
    await device.validate({});
    expect(server.calls[0]?.request).not.toHaveProperty('lease');
    disconnect(server);
    expect(await device.validate({})).toMatchObject({ kind: 'failure' });
  });

  test('is for one license key on one device', async ({ server }) => {
    const device = await leased(server);
    expect(await device.validate({ hwid: 'device-2' })).toMatchObject({ kind: 'failure', lease: 'none' });
    expect(await device.client().validate('another key', { hwid })).toMatchObject({ lease: 'none' });
    expect(await device.validate()).toMatchObject(fromLease);
  });

  test('lasts over restarts of the program, in the store, without the license key', async ({ server }) => {
    const device = await leased(server);
    device.restart();
    expect(await device.validate()).toMatchObject(fromLease);
    expect(JSON.stringify([...device.store.texts])).not.toContain(licenseKey);
    device.store.texts.clear();
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
  });

  test('of an application that issues none is asked for, and missed in silence', async ({ server }) => {
    const device = createDevice(server);
    for (let turn = 0; turn < 2; turn += 1) expect(await device.validate()).toMatchObject(fromService);
    expect([...device.store.texts.keys()]).toEqual([`${appId}/keys`]);
    disconnect(server);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
  });
});

const noAnswers: [string, (context: CallContext) => ReturnType<StandIn['onCall']>][] = [
  ['a closed connection', () => (response) => response.destroy()],
  ['silence', () => () => {}],
  ['an unsigned 503', () => unsigned('UNAVAILABLE')],
  ['an unsigned refusal', () => json(403, { success: false, error: 'No', code: 'BANNED' })],
  ['an unsigned REPLAY', () => json(400, { success: false, error: 'No', code: 'REPLAY' })],
  ['KEY_UNKNOWN twice', () => unsigned('KEY_UNKNOWN')],
  ['a forged answer', ({ sealed, answer }) => sealed(answer, { seed: new Uint8Array(32) })],
  ['a signed UNAVAILABLE', ({ refused }) => refused('UNAVAILABLE')],
  ['a signed RATE_LIMITED', ({ refused }) => refused('RATE_LIMITED')],
];

test.for(noAnswers)('a lease stands in for an answer after %s', async ([, onCall], { server }) => {
  const device = createDevice(server, { timeoutMs: 500 });
  issueLeases(server);
  await device.validate();
  server.onCall = onCall;
  expect(await device.validate()).toMatchObject(fromLease);
});

describe('no lease stands in', () => {
  test.for(['REPLAY', 'CLOCK_SKEW'])('for a signed %s, which is an answer', async (code, { server }) => {
    const device = await leased(server);
    server.onCall = ({ refused }) => refused(code);
    expect(await device.validate()).toMatchObject({ kind: 'failure', code, signed: true });
  });

  test('for a call that the program has aborted', async ({ server }) => {
    const device = await leased(server);
    const outcome = await device.validate({ hwid, signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted' });
  });

  const refusals = [...verdictCodes.filter((code) => code !== 'OK'), 'OF_THE_FUTURE'];
  test.for(refusals)('for a signed %s, which also deletes it', async (code, { server }) => {
    const device = await leased(server);
    server.onCall = ({ refused }) => refused(code);
    expect(await device.validate()).toMatchObject({ kind: 'verdict', valid: false, code });
    disconnect(server);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
  });

  test('after a refusal that the store has failed to keep', async ({ server }) => {
    const device = await leased(server);
    device.store.write = () => Promise.reject(new Error('read-only'));
    server.onCall = ({ refused }) => refused('BANNED');
    expect(await device.validate()).toMatchObject({ kind: 'verdict', valid: false, code: 'BANNED' });
    disconnect(server);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'not-stored' });
  });

  test('where the store does not take the record of its use, whatever the clock says', async ({ server }) => {
    const device = await leased(server);
    const { write } = device.store;
    device.store.write = () => Promise.reject(new Error('read-only'));
    for (const days of [6, -6, 6, -6]) {
      device.turnClock(days * day);
      device.restart();
      const refused = { kind: 'failure', reason: 'network', lease: 'not-stored' };
      expect(await device.validate()).toMatchObject(refused);
      expect(await device.validate()).toMatchObject({ kind: 'failure' });
    }
    device.store.write = write;
    expect(await device.validate()).toMatchObject(fromLease);
  });

  test('in a client that keeps nothing', async ({ server }) => {
    const device = await leased(server, { store: null });
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'not-stored' });
  });
});

describe('renewal', () => {
  test('is asked for from half of the term on, with the number of the lease', async ({ server }) => {
    const device = createDevice(server);
    const { issued } = issueLeases(server);
    await device.validate();
    device.passWithoutProgram(term / 2 - 1);
    await device.validate();
    expect(issued).toHaveLength(1);
    device.passWithoutProgram(1);
    expect(await device.validate()).toMatchObject(fromService);
    expect(issued).toHaveLength(2);
    expect(server.calls.at(-1)?.request).toMatchObject({ call: 'lease', seq: 1, hwid, licenseKey });
    disconnect(server);
    device.passWithoutProgram(term - 1);
    expect(await device.validate()).toMatchObject(fromLease);
  });

  test('is asked for when the service says something else about the license', async ({ server }) => {
    const device = createDevice(server);
    const { issued } = issueLeases(server, { tier: 2 });
    for (let turn = 0; turn < 2; turn += 1) await device.validate();
    expect(issued).toHaveLength(1);
    await device.validate();
    expect(issued).toHaveLength(2);
  });

  describe('where the application no longer issues leases', () => {
    /** A device whose lease is due, and a service that answers what is given to a validation. */
    async function due(server: StandIn, onValidate: StandIn['onCall'] = ({ good }) => good()) {
      const device = createDevice(server);
      issueLeases(server);
      await device.validate();
      device.passWithoutProgram(term / 2);
      server.onCall = (context) =>
        context.request.call === 'lease' ? context.refused('LEASES_DISABLED') : onValidate(context);
      return device;
    }

    test('validates the license, and keeps the lease until its end', async ({ server }) => {
      const device = await due(server);
      expect(await device.validate()).toMatchObject(fromService);
      const { onKeys, onCall } = server;
      disconnect(server);
      expect(await device.validate()).toMatchObject(fromLease);
      device.passWithoutProgram(term / 2);
      expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'expired' });
      Object.assign(server, { onKeys, onCall });
      for (let turn = 0; turn < 2; turn += 1) expect(await device.validate()).toMatchObject(fromService);
      expect(server.calls.at(-2)?.request).toMatchObject({ call: 'validate' });
      expect(server.calls.at(-1)?.request).toMatchObject({ call: 'validate', lease: true });
    });

    test('deletes the lease of a license that is refused', async ({ server }) => {
      const device = await due(server, ({ refused }) => refused('BANNED'));
      expect(await device.validate()).toMatchObject({ kind: 'verdict', valid: false, code: 'BANNED' });
      disconnect(server);
      expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
    });

    test('uses the lease if the validation has no answer', async ({ server }) => {
      const device = await due(server, () => (response) => response.destroy());
      expect(await device.validate()).toMatchObject(fromLease);
    });
  });

  test('after a signed refusal is a new lease', async ({ server }) => {
    const device = await leased(server);
    server.onCall = ({ refused }) => refused('HWID_MISMATCH');
    await device.validate();
    issueLeases(server, { seq: 2 });
    expect(await device.validate()).toMatchObject(fromService);
    disconnect(server);
    expect(await device.validate()).toMatchObject(fromLease);
  });
});

describe('the end of a lease', () => {
  test('is the end, to the second', async ({ server }) => {
    const device = await leased(server);
    const end = Math.floor(device.clock.now / 1000) * 1000 + term * 1000;
    device.clock.now = end - 1;
    expect(await device.validate()).toMatchObject(fromLease);
    device.clock.now = end;
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'expired' });
  });

  test('comes after its term of run time, whatever the clock says', async ({ server }) => {
    const device = await leased(server);
    device.clock.runTime += term * 1000;
    expect(await device.validate()).toMatchObject(fromLease);
    device.clock.runTime += 1;
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'used-up' });
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'used-up' });
  });

  test('counts the run time of every run of the program', async ({ server }) => {
    const device = await leased(server);
    for (let run = 0; run < 7; run += 1) {
      expect(await device.validate(), `run ${run}`).toMatchObject(fromLease);
      device.clock.runTime += day * 1000 + 1;
      await device.validate();
      device.restart();
    }
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'used-up' });
  });

  test('counts the run time of a program that asks only once, at its start', async ({ server }) => {
    const device = await leased(server);
    for (let run = 0; run < 7; run += 1) {
      vi.useFakeTimers({ toFake: ['setInterval'] });
      device.restart();
      expect(await device.validate(), `run ${run}`).toMatchObject(fromLease);
      device.clock.runTime += day * 1000 + 1;
      vi.advanceTimersToNextTimer();
      vi.useRealTimers();
      // Waits for the timer's change, which comes before this one.
      await device.client().leases.importLease('nonsense', { licenseKey, hwid });
    }
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'used-up' });
  });

  test('counts at least a minute of each run that uses it', async ({ server }) => {
    const device = await leased(server);
    device.clock.runTime = (term - 3 * minute) * 1000;
    expect(await device.validate()).toMatchObject(fromLease);
    for (let run = 0; run < 3; run += 1) {
      device.restart();
      expect(await device.validate(), `run ${run}`).toMatchObject(fromLease);
    }
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'used-up' });
  });

  test('counts every minute of a run before it has passed', async ({ server }) => {
    const device = await leased(server);
    const used = () => JSON.parse(device.store.texts.get(`${appId}/leases`) ?? '').entries[0].used;
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    device.restart();
    await device.validate();
    for (let minutes = 1; minutes <= 3; minutes += 1) {
      expect(used()).toBe(minutes * minute);
      device.clock.runTime += minute * 1000;
      vi.advanceTimersByTime(minute * 1000);
      // Waits for the timer's change, which comes before this one.
      await device.client().leases.importLease('nonsense', { licenseKey, hwid });
    }
  });

  test('does not count the same time twice for programs that run at once', async ({ server }) => {
    const device = await leased(server);
    const others = Array.from({ length: 3 }, () =>
      createClient({
        ...server.options,
        leases: true,
        store: device.store,
        now: () => device.clock.now,
        runTime: () => device.clock.runTime,
      }),
    );
    for (let turn = 0; turn < 6; turn += 1) {
      device.clock.runTime += day * 1000;
      for (const other of others) {
        expect(await other.validate(licenseKey, { hwid })).toMatchObject(fromLease);
      }
    }
  });

  test('is that of a newer lease after a renewal, with its own run time', async ({ server }) => {
    const device = createDevice(server);
    issueLeases(server);
    await device.validate();
    device.pass(term - minute);
    await device.validate();
    disconnect(server);
    device.pass(term - minute);
    expect(await device.validate()).toMatchObject(fromLease);
  });
});

describe('a clock that is set back', () => {
  test('by more than an hour ends the use of leases, until it is right again', async ({ server }) => {
    const device = await leased(server);
    device.pass(2 * day);
    expect(await device.validate()).toMatchObject(fromLease);
    device.turnClock(-hour - 1);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'clock-set-back' });
    device.restart();
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'clock-set-back' });
    device.turnClock(1);
    expect(await device.validate()).toMatchObject(fromLease);
  });

  test('by an hour at every turn does not stretch a lease', async ({ server }) => {
    const device = await leased(server);
    device.turnClock(term - minute);
    expect(await device.validate()).toMatchObject(fromLease);
    device.turnClock(2 * minute);
    expect(await device.validate()).toMatchObject({ lease: 'expired' });
    device.turnClock(-30 * minute);
    expect(await device.validate()).toMatchObject({ lease: 'expired' });
  });

  test('to before the lease was issued is noticed by a program that was not started since', async ({
    server,
  }) => {
    const device = await leased(server);
    device.restart();
    device.turnClock(-hour - 1);
    expect(await device.validate()).toMatchObject({ lease: 'clock-set-back' });
  });

  test('to before the program was built is noticed', async ({ server }) => {
    const device = await leased(server);
    const updated = createClient({
      ...server.options,
      leases: true,
      store: device.store,
      now: () => device.clock.now,
      builtAt: server.clock + 2 * hour * 1000,
    });
    await updated.validate(licenseKey, { hwid });
    expect(await updated.validate(licenseKey, { hwid })).toMatchObject({ lease: 'clock-set-back' });
  });

  test('after it was ahead for a while is refused until the service has answered', async ({ server }) => {
    const device = await leased(server);
    device.turnClock(365 * day);
    expect(await device.validate()).toMatchObject({ lease: 'expired' });
    device.turnClock(-365 * day);
    expect(await device.validate()).toMatchObject({ lease: 'clock-set-back' });
    issueLeases(server, { seq: 2 });
    server.onKeys = () => ({ status: 200, body: server.statement() });
    expect(await device.validate()).toMatchObject(fromService);
    disconnect(server);
    expect(await device.validate()).toMatchObject(fromLease);
  });

  test('is noticed although the service has signed an earlier time to another process', async ({
    server,
  }) => {
    const device = createDevice(server);
    issueLeases(server);
    await device.validate();
    const other = createClient({
      ...server.options,
      leases: true,
      store: device.store,
      now: () => device.clock.now,
    });
    expect(await other.login({ username: 'ada', password: 'correct horse' })).toMatchObject({ valid: true });
    device.turnClock(2 * day);
    expect(await device.client().leases.check({ licenseKey, hwid })).toMatchObject(fromLease);
    device.turnClock(-2 * day);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await other.leases.check({ licenseKey, hwid })).toMatchObject({ lease: 'clock-set-back' });
    }
  });

  test.for([-10, 10])(
    'after it was %d years wrong and then set right is no reason to refuse a lease',
    async (years, { server }) => {
      const device = createDevice(server);
      device.turnClock(years * 365 * day);
      issueLeases(server);
      expect(await device.validate()).toMatchObject(fromService);
      disconnect(server);
      expect(await device.validate()).toMatchObject(fromLease);
      device.turnClock(-years * 365 * day);
      expect(await device.validate()).toMatchObject(fromLease);
      device.restart();
      expect(await device.validate()).toMatchObject(fromLease);
    },
  );

  test('that the service has corrected does not enter the record, but the signed time does', async ({
    server,
  }) => {
    const device = createDevice(server);
    device.turnClock(10 * 365 * day);
    issueLeases(server);
    await device.validate();
    const signed = Math.floor(server.clock / 1000);
    disconnect(server);
    device.pass(day);
    expect(await device.validate()).toMatchObject(fromLease);
    expect(JSON.parse(device.store.texts.get(`${appId}/leases`) ?? '')).toMatchObject({ last: signed });
  });

  test('that returns no number is refused, and forgets nothing', async ({ server }) => {
    const device = await leased(server);
    const { now } = device.clock;
    device.clock.now = Number.NaN;
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'clock-set-back' });
    device.clock.now = now;
    expect(await device.validate()).toMatchObject(fromLease);
  });
});

const otherUuid = '01890a5d-ac96-774b-bcce-b302099a8058';
const leaseHeader = '{"alg":"EdDSA","typ":"latchkey-lease+jwt"}';
const wrongLeases: [string, (server: StandIn) => string][] = [
  ['of another application', (server) => server.token(leaseHeader, claimsOf(server, { aud: otherUuid }))],
  ['of another license', (server) => server.token(leaseHeader, claimsOf(server, { sub: otherUuid }))],
  ['of another device', (server) => server.token(leaseHeader, claimsOf(server, { dev: 'A'.repeat(43) }))],
  ['that has ended', (server) => server.token(leaseHeader, claimsOf(server, { iat: 1, nbf: 1, exp: 2 }))],
  [
    'for 31 days',
    (server) => server.token(leaseHeader, claimsOf(server, { exp: server.clock / 1000 + 31 * day })),
  ],
  [
    'with a signature of another key',
    (server) => server.token(leaseHeader, claimsOf(server), new Uint8Array(32)),
  ],
  ['without an algorithm', (server) => server.token('{"alg":"none"}', claimsOf(server))],
  [
    'with the header of a revocation list',
    (server) => server.token('{"alg":"EdDSA","typ":"latchkey-revoked+jwt"}', claimsOf(server)),
  ],
  ['that is nonsense', () => 'nonsense'],
  ['that is an empty text', () => ''],
  ['of more than 32,768 characters', () => 'x'.repeat(32_769)],
];

describe('a lease from the service', () => {
  test.for(wrongLeases)('%s is not stored, and does not change the verdict', async ([, make], { server }) => {
    const device = createDevice(server);
    server.onCall = ({ sealed, answer }) => sealed({ ...answer, lease: make(server) });
    expect(await device.validate()).toMatchObject(fromService);
    disconnect(server);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
  });

  test.for(['seq', 'rev'])('with a lower %s than one before is not stored', async (name, { server }) => {
    const device = createDevice(server);
    issueLeases(server, { seq: 5, rev: 5 });
    await device.validate();
    device.passWithoutProgram(term - hour);
    issueLeases(server, { seq: 6, rev: 6, [name]: 4 });
    expect(await device.validate()).toMatchObject(fromService);
    disconnect(server);
    device.passWithoutProgram(2 * hour);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'expired' });
  });
});

describe('a record in the store', () => {
  const name = `${appId}/leases`;
  const change = (text: string, replace: (record: { entries: object[] }) => object): string =>
    JSON.stringify(replace(JSON.parse(text)));

  test.for(['', 'rubbish', '{}', '[]', 'null', '{"entries":[{"id":1}]}'])(
    'that is %j counts as none',
    async (text, { server }) => {
      const device = await leased(server);
      device.store.texts.set(name, text);
      expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
    },
  );

  test.for(wrongLeases.filter(([what]) => what !== 'of another license'))(
    'with a lease %s gives no verdict',
    async ([, make], { server }) => {
      const device = await leased(server);
      const stored = device.store.texts.get(name) ?? '';
      const lease = make(server);
      device.store.texts.set(
        name,
        change(stored, (record) => ({
          ...record,
          entries: record.entries.map((entry) => ({ ...entry, lease })),
        })),
      );
      expect(await device.validate()).toMatchObject({ kind: 'failure', lease: expect.any(String) });
    },
  );

  test('with an earlier lease than the one that it has seen gives no verdict', async ({ server }) => {
    const device = createDevice(server);
    const { issued } = issueLeases(server);
    await device.validate();
    device.passWithoutProgram(term / 2);
    await device.validate();
    disconnect(server);
    const [first] = issued;
    const stored = device.store.texts.get(name) ?? '';
    device.store.texts.set(
      name,
      change(stored, (record) => ({
        ...record,
        entries: record.entries.map((entry) => ({ ...entry, lease: first })),
      })),
    );
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'superseded' });
  });

  test('keeps the leases of questions that are asked at once', async ({ server }) => {
    const device = createDevice(server);
    server.onCall = ({ sealed, answer }) =>
      sealed({ ...answer, lease: server.token(leaseHeader, claimsOf(server)) });
    const keys = ['one', 'two', 'three', 'four'];
    await Promise.all(keys.map((key) => device.client().validate(key, { hwid })));
    disconnect(server);
    for (const key of keys) {
      expect(await device.client().leases.check({ licenseKey: key, hwid }), key).toMatchObject(fromLease);
    }
  });

  test('keeps a few leases, the newest', async ({ server }) => {
    const device = createDevice(server);
    server.onCall = ({ sealed, answer }) =>
      sealed({ ...answer, lease: server.token(leaseHeader, claimsOf(server)) });
    for (let key = 0; key < 10; key += 1) await device.client().validate(`key ${key}`, { hwid });
    disconnect(server);
    const outcomes = [];
    for (let key = 0; key < 10; key += 1)
      outcomes.push(await device.client().leases.check({ licenseKey: `key ${key}`, hwid }));
    expect(outcomes.filter(({ kind }) => kind === 'verdict')).toHaveLength(8);
    expect(outcomes.at(-1)).toMatchObject(fromLease);
  });
});

test('check asks nothing of the service', async ({ server }) => {
  const device = await leased(server);
  const before = server.calls.length;
  expect(await device.client().leases.check({ licenseKey, hwid })).toMatchObject(fromLease);
  expect(await device.client().leases.check({ licenseKey, hwid: 'device-2' })).toEqual({
    kind: 'failure',
    reason: 'no-lease',
    message: 'There is no lease for this license and device',
    lease: 'none',
  });
  expect(server.calls).toHaveLength(before);
});
