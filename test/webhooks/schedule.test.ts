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

const owner = (webhookId: string, developerId: string, isProven = true) => ({
  webhookId,
  developerId,
  isProven,
});
const limits = { total: 20, unproven: 10, perDeveloper: 4, perWebhook: 3 };

test('a webhook that has not proved that it answers gets one place', () => {
  const slots = createSlots(limits);
  expect(slots.room(owner('a', 'ada', false))).toBe(1);
  const release = slots.take(owner('a', 'ada', false));
  expect(slots.room(owner('a', 'ada', false))).toBe(0);
  release();
  release();
  expect(slots.room(owner('a', 'ada', false))).toBe(1);
  expect(slots.room(owner('a', 'ada'))).toBe(3);
});

test('each webhook of a developer gets a place, however many the others have', () => {
  const slots = createSlots(limits);
  for (const id of ['a', 'a', 'b', 'b']) slots.take(owner(id, 'ada'));
  expect(slots.room(owner('a', 'ada'))).toBe(0);
  expect(slots.room(owner('c', 'ada'))).toBe(1);
  expect(slots.room(owner('d', 'grace'))).toBe(3);
});

test('webhooks that never answer leave half of the places to those that do', () => {
  const slots = createSlots(limits);
  for (let index = 0; index < 10; index += 1) slots.take(owner(`${index}`, `${index}`, false));
  expect(slots.room(owner('more', 'eve', false))).toBe(0);
  expect(slots.room(owner('good', 'ada'))).toBe(3);
});
