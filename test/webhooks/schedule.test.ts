import { expect, test } from 'vitest';
import { nextAttempt } from '../../src/services/webhook/schedule.ts';
import { createSlots } from '../../src/services/webhook/slots.ts';

const now = Date.UTC(2026, 0, 1);
const waitAfter = (attempts: number, retryAfter: string | null = null, random = 0) => {
  const next = nextAttempt({ attempts, now, retryAfter }, random);
  return next === null ? null : (next.getTime() - now) / 1000;
};

test('there are ten attempts, at the documented pauses', () => {
  const waits = Array.from({ length: 10 }, (_, index) => waitAfter(index + 1));
  const hour = 3_600;
  expect(waits).toEqual([5, 300, 1_800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour), null]);
  expect(waitAfter(11)).toBeNull();
});

test('a pause is up to a tenth longer, and never shorter', () => {
  expect(waitAfter(2, null, 0.5)).toBe(315);
  expect(waitAfter(2, null, 1)).toBe(330);
});

test.each([
  ['3600', 3_600],
  ['0', 300],
  ['10', 300],
  ['999999999', 86_400],
  [new Date(now + 7_200_000).toUTCString(), 7_200],
  [new Date(now - 7_200_000).toUTCString(), 300],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
  ['soon', 300],
  ['-5', 300],
  ['1e9', 300],
  ['', 300],
])('after Retry-After "%s", the second pause is %d s', (value, seconds) => {
  expect(waitAfter(2, value)).toBe(seconds);
});

const owner = (webhookId: string, isProven = true) => ({ webhookId, isProven });
const limits = { total: 20, unproven: 10, testsPerDeveloper: 2 };

test('a webhook gets one attempt at a time', () => {
  const slots = createSlots(limits);
  const release = slots.serve(owner('a'));
  expect(slots.serve(owner('a'))).toBeNull();
  expect(slots.serve(owner('b'))).not.toBeNull();
  release?.();
  release?.();
  expect(slots.serve(owner('a'))).not.toBeNull();
});

test('webhooks that never answer leave half of the slots to those that do', () => {
  const slots = createSlots(limits);
  for (let index = 0; index < 10; index += 1) slots.serve(owner(`${index}`, false));
  expect(slots.serve(owner('more', false))).toBeNull();
  expect(slots.serve(owner('good'))).not.toBeNull();
});

test('no more attempts are in progress than there are slots', () => {
  const slots = createSlots(limits);
  const releases = Array.from({ length: 20 }, (_, index) => slots.serve(owner(`${index}`)));
  expect(slots.serve(owner('more'))).toBeNull();
  expect(slots.test('grace')).toBeNull();
  releases[0]?.();
  expect(slots.test('grace')).not.toBeNull();
});

test('a developer has some tests at a time, which take no slot of another', () => {
  const slots = createSlots(limits);
  const release = slots.test('ada');
  slots.test('ada');
  expect(slots.test('ada')).toBeNull();
  expect(slots.test('grace')).not.toBeNull();
  expect(slots.serve(owner('a'))).not.toBeNull();
  release?.();
  expect(slots.test('ada')).not.toBeNull();
});
