import { expect, test } from 'vitest';
import { httpLimits } from '../../src/http-limits.ts';
import { longestRun, RequestWork } from '../../src/services/request-work.ts';

test('a request is late some time after it began, with all of its parts', () => {
  const { signal } = new AbortController();
  const since = (milliseconds: number) =>
    new RequestWork({ signal }, undefined, performance.now() - milliseconds).part(signal);
  expect(new RequestWork({ signal }).isLate()).toBe(false);
  expect(since(longestRun - 10_000).isLate()).toBe(false);
  expect(since(longestRun).isLate()).toBe(true);
});

test('a late request has time to be answered before its connection is closed', () => {
  expect(longestRun).toBeLessThanOrEqual(httpLimits.timeout - 45_000);
});
