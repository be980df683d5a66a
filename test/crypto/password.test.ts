import { availableParallelism } from 'node:os';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  hashPassword,
  hashPasswordFor,
  PasswordsBusyError,
  verifyPassword,
} from '../../src/crypto/password.ts';

const { verify, running } = vi.hoisted(() => ({
  verify: vi.fn<(hashed: string, password: string) => void>(),
  running: { count: 0, most: 0 },
}));
vi.mock('@node-rs/argon2', async (importActual) => {
  const actual = await importActual<typeof import('@node-rs/argon2')>();
  return {
    ...actual,
    verify: (hashed: string, password: string) => {
      verify(hashed, password);
      running.count += 1;
      running.most = Math.max(running.most, running.count);
      return actual.verify(hashed, password).finally(() => {
        running.count -= 1;
      });
    },
  };
});
const network = '192.0.2.0/24';

beforeEach(() => {
  verify.mockReset();
});

/** The algorithm and cost of a PHC string, which determine the work of a verification. */
const costOf = (hash: string) => hash.split('$').slice(1, 4).join('$');

describe('a password', () => {
  test('is hashed by Argon2id with 19 MiB and two passes, and its own salt', async () => {
    const [first, second] = [
      await hashPassword('correct horse', network),
      await hashPassword('correct horse', network),
    ];
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/);
    expect(first).not.toBe(second);
  });

  test('matches its own hash, and other passwords do not', async () => {
    const hash = await hashPassword('correct horse', network);
    expect(await verifyPassword(hash, 'correct horse', network)).toBe(true);
    for (const wrong of ['', 'Correct horse', 'correct horse ', 'correct hors', 'correct horse\0']) {
      expect(await verifyPassword(hash, wrong, network), JSON.stringify(wrong)).toBe(false);
    }
  });

  test('is compared by its exact code points, however long', async () => {
    const password = `é${'漢'.repeat(1_023)}`;
    const hash = await hashPassword(password, network);
    expect(await verifyPassword(hash, password, network)).toBe(true);
    expect(await verifyPassword(hash, password.normalize('NFD'), network)).toBe(false);
    expect(await verifyPassword(hash, password.slice(0, -1), network)).toBe(false);
  });

  test('of an account that does not exist is refused after a verification of the same cost', async () => {
    const hash = await hashPassword('correct horse', network);
    expect(await verifyPassword(hash, 'wrong', network)).toBe(false);
    expect(await verifyPassword(null, 'wrong', network)).toBe(false);
    expect(verify).toHaveBeenCalledTimes(2);
    const [known, unknown] = verify.mock.calls;
    expect(unknown?.[1]).toBe('wrong');
    expect(costOf(unknown?.[0] ?? '')).toBe(costOf(known?.[0] ?? '?'));
  });

  test('that matches the decoy hash opens no account', async () => {
    expect(await verifyPassword(null, 'dummy password', network)).toBe(false);
    expect(verify).toHaveBeenCalledTimes(1);
  });
});

describe('many concurrent passwords', () => {
  test('leave a processor for the event loop, and those beyond the queue are refused at once', async () => {
    const hash = await hashPassword('correct horse', network);
    running.most = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 150 }, () => verifyPassword(hash, 'correct horse', network)),
    );
    const right = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value);
    const refused = outcomes.filter(
      (outcome) => outcome.status === 'rejected' && outcome.reason instanceof PasswordsBusyError,
    );
    const atOnce = Math.min(3, Math.max(1, availableParallelism() - 1));
    expect(running.most).toBe(atOnce);
    expect(right).toHaveLength(64 + atOnce);
    expect(refused).toHaveLength(86 - atOnce);
  });

  test('are served again as soon as the queue has room', async () => {
    const hash = await hashPassword('correct horse', network);
    await Promise.allSettled(Array.from({ length: 150 }, () => verifyPassword(hash, 'wrong', network)));
    expect(await verifyPassword(hash, 'correct horse', network)).toBe(true);
  });

  test('of one network leave places and turns for others', async () => {
    const hash = await hashPassword('correct horse', network);
    const ended: string[] = [];
    const attack = Array.from({ length: 150 }, () =>
      verifyPassword(hash, 'wrong', '2001:db8:1::/48').then(
        () => ended.push('attack'),
        () => undefined,
      ),
    );
    const customers = Array.from({ length: 5 }, (_, index) =>
      verifyPassword(hash, 'correct horse', `198.51.${index}.0/24`).finally(() => ended.push('customer')),
    );
    expect(await Promise.all(customers)).toEqual(Array(5).fill(true));
    const before = ended.filter((each) => each === 'attack').length;
    await Promise.all(attack);
    // Each customer has a turn in each round: at most one turn of the attack comes first, besides those already running.
    expect(before).toBeLessThanOrEqual(5 + 2 * Math.min(3, Math.max(1, availableParallelism() - 1)));
    expect(ended.filter((each) => each === 'attack').length).toBeGreaterThan(50);
  });

  test('for one developer are limited and leave the queue for others', async () => {
    const hash = await hashPassword('correct horse', network);
    let made = 0;
    const many = Array.from({ length: 70 }, () =>
      hashPasswordFor('one developer', 'correct horse', network).then(() => {
        made += 1;
      }),
    );
    const outcomes = Promise.allSettled(many);
    expect(await verifyPassword(hash, 'correct horse', network)).toBe(true);
    expect(made).toBeLessThan(10);
    const refused = (await outcomes).filter(
      (outcome) => outcome.status === 'rejected' && outcome.reason instanceof PasswordsBusyError,
    );
    expect([made, refused.length]).toEqual([66, 4]);
    expect(await hashPasswordFor('one developer', 'correct horse', network)).toMatch(/^\$argon2id\$/);
  });
});
