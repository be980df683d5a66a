import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createDeveloperTurns, tooManyReads, turnLimits } from '../../src/services/developer-turns.ts';

const limits = {
  concurrencyPerDeveloper: 2,
  concurrencyPerNetwork: 2,
  concurrency: 3,
  maxWaiting: 10,
  maxWait: 60_000,
};

/** Reads that end when told, in the order in which they began. */
function recorder(given = limits) {
  const turns = createDeveloperTurns(given, tooManyReads);
  const running: { readonly developer: string; end(): void }[] = [];
  const begun: string[] = [];
  const take = (developer: string, wanted?: AbortSignal, network = `network of ${developer}`) => {
    const taken = turns.take({ developer, network, wanted }, () => {
      begun.push(developer);
      return new Promise<void>((resolve) => running.push({ developer, end: resolve }));
    });
    taken.catch(() => undefined);
    return taken;
  };
  const settle = () => sleep(1);
  const endAll = async () => {
    for (await settle(); running.length > 0; await settle()) running.shift()?.end();
  };
  return { turns, running, begun, take, settle, endAll };
}

describe('reads of developers', () => {
  test('have limits of concurrent statements, per developer and in total', async () => {
    const { take, running, settle, endAll } = recorder();
    for (let count = 0; count < 5; count += 1) take('a');
    await settle();
    expect(running.map(({ developer }) => developer)).toEqual(['a', 'a']);
    for (let count = 0; count < 5; count += 1) take('b');
    await settle();
    expect(running.map(({ developer }) => developer)).toEqual(['a', 'a', 'b']);
    await endAll();
  });

  test('take turns: a single read waits for at most as many as others run concurrently', async () => {
    const { take, begun, endAll } = recorder({
      ...limits,
      concurrencyPerDeveloper: 1,
      concurrencyPerNetwork: 1,
      concurrency: 1,
    });
    for (let count = 0; count < 9; count += 1) take('many');
    take('one');
    take('other');
    await endAll();
    expect(begun.slice(0, 4)).toEqual(['many', 'one', 'other', 'many']);
    expect(begun).toHaveLength(11);
  });

  test('take turns by network, however many accounts one has', async () => {
    const { take, begun, endAll } = recorder({
      ...limits,
      concurrencyPerDeveloper: 1,
      concurrencyPerNetwork: 1,
      concurrency: 1,
    });
    for (let account = 0; account < 9; account += 1) take(`account ${account}`, undefined, 'one network');
    take('elsewhere');
    await endAll();
    expect(begun.indexOf('elsewhere')).toBeLessThanOrEqual(2);
    expect(begun).toHaveLength(10);
  });

  test('of one network leave a turn for others, however long theirs take', async () => {
    const { take, begun, settle, endAll } = recorder();
    for (let account = 0; account < 9; account += 1) take(`account ${account}`, undefined, 'one network');
    await settle();
    expect(begun).toHaveLength(2);
    take('elsewhere');
    await settle();
    expect(begun.at(-1)).toBe('elsewhere');
    await endAll();
    expect(begun).toHaveLength(10);
  });

  test('are refused if too many of the same developer wait, without affecting others', async () => {
    const { take, turns, endAll } = recorder();
    const asked = Array.from({ length: limits.maxWaiting }, () => take('a'));
    await expect(take('a')).rejects.toMatchObject({ code: 'TOO_MANY_READS' });
    const other = take('b');
    await endAll();
    await Promise.all([...asked, other]);
    expect(turns.developers).toBe(0);
  });

  test('are refused after waiting for too long', async () => {
    const { take, running, settle, turns } = recorder({ ...limits, concurrencyPerDeveloper: 1, maxWait: 20 });
    const first = take('a');
    const second = take('a');
    await sleep(30);
    running.shift()?.end();
    await first;
    await expect(second).rejects.toMatchObject({ code: 'TOO_MANY_READS' });
    await settle();
    expect(turns.developers).toBe(0);
  });

  test('are not blamed in the refusal if others keep them waiting', async () => {
    const { take, running, endAll } = recorder({ ...limits, concurrency: 1, maxWait: 20 });
    take('many');
    const one = take('one');
    await sleep(30);
    running.shift()?.end();
    await expect(one).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await endAll();
  });

  test('do not begin after they were cancelled', async () => {
    const { take, begun, endAll } = recorder({ ...limits, concurrencyPerDeveloper: 1 });
    const gone = new AbortController();
    const [first, second, third] = [take('a'), take('a', gone.signal), take('a')];
    gone.abort();
    await endAll();
    await Promise.all([first, third]);
    await expect(second).rejects.toThrow();
    expect(begun).toHaveLength(2);
  });

  test('leave no state behind if they fail', async () => {
    const { turns } = recorder();
    await expect(
      turns.take({ developer: 'a', network: 'n' }, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no');
    expect(turns.developers).toBe(0);
  });
});

test('a server reserves connections for clients, however many developers read', () => {
  for (const connections of [1, 2, 3, 10, 40]) {
    const { concurrency, concurrencyPerDeveloper, concurrencyPerNetwork } = turnLimits(
      'server',
      connections,
      1,
    );
    expect(concurrencyPerNetwork).toBe(Math.max(1, concurrency - 1));
    expect(concurrency).toBeLessThanOrEqual(Math.max(1, connections / 2));
    expect(concurrencyPerDeveloper).toBeLessThanOrEqual(Math.max(1, concurrency));
  }
  expect(turnLimits('memory', 10, 1)).toMatchObject({ concurrency: 1, concurrencyPerDeveloper: 1 });
});
