import { describe, expect, test } from 'vitest';
import { createFairQueue, QueueFullError } from '../../src/lib/fair-queue.ts';

/** A queue, and its executed work in order. Work ends when told. */
function queue(options: { concurrency: number; maxWaiting: number }) {
  const turns = createFairQueue(options);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const ask = (key: string): Promise<void> =>
    turns
      .run(key, () => {
        began.push(key);
        return new Promise<void>((resolve) => ends.push(resolve));
      })
      .catch((error: unknown) => {
        expect(error).toBeInstanceOf(QueueFullError);
        refused.push(key);
      });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    turns,
    began,
    refused,
    ask: async (...keys: readonly string[]) => {
      for (const key of keys) void ask(key);
      await settle();
    },
    endAll: async () => {
      for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
        end();
        await settle();
      }
    },
  };
}

describe('turns', () => {
  test('rotate between keys, and each key has its own in order', async () => {
    const { ask, began, endAll, turns } = queue({ concurrency: 1, maxWaiting: 20 });
    await ask('a', 'a', 'a', 'a', 'b', 'b', 'c');
    expect([began, turns.waiting]).toEqual([['a'], 6]);
    await endAll();
    expect(began).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
    expect(turns.waiting).toBe(0);
  });

  test('are limited in number, even after failed work', async () => {
    const { ask, began, endAll, turns } = queue({ concurrency: 2, maxWaiting: 20 });
    await expect(turns.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await ask('a', 'a', 'a');
    expect(began).toHaveLength(2);
    await endAll();
    expect(began).toHaveLength(3);
  });
});

describe('places', () => {
  test('all belong to one key while no other one waits', async () => {
    const { ask, began, refused, endAll } = queue({ concurrency: 1, maxWaiting: 4 });
    await ask(...Array(8).fill('a'));
    expect(refused).toEqual(['a', 'a', 'a']);
    await endAll();
    expect(began).toHaveLength(5);
  });

  test('are taken from the key with the most, until others have as many', async () => {
    const { ask, refused, turns } = queue({ concurrency: 1, maxWaiting: 4 });
    await ask(...Array(5).fill('a'), 'b', 'b');
    expect(refused).toEqual(['a', 'a']);
    await ask('b', 'a');
    expect(refused).toEqual(['a', 'a', 'b', 'a']);
    await ask('c');
    expect(refused).toEqual(['a', 'a', 'b', 'a', 'a']);
    expect(turns.waiting).toBe(4);
  });
});
