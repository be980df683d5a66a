import { expect, test } from 'vitest';
import { createStuckCommits } from '../../src/services/changes/stuck-commits.ts';

const commit = (backend: number, transactionId: string) => ({ backend, transactionId });

test('a commit is stuck if it waits at every look for a second and a half', () => {
  const commits = createStuckCommits();
  for (const now of [0, 250, 1_499]) expect(commits.note([commit(7, '100')], now)).toEqual(new Set());
  expect(commits.note([commit(7, '100'), commit(8, '101')], 1_500)).toEqual(new Set([7]));
  expect(commits.note([commit(8, '101')], 2_000)).toEqual(new Set());
  expect(commits.note([], 4_000)).toEqual(new Set());
  expect(commits.note([commit(8, '101')], 4_250)).toEqual(new Set());
});

test('commits of one backend that each wait as usual are not stuck', () => {
  const commits = createStuckCommits();
  for (let look = 0; look < 20; look += 1)
    expect(commits.note([commit(7, String(100 + look))], look * 250)).toEqual(new Set());
});
