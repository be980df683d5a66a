import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startOfDay, toInstantText } from '../../src/lib/instant-text.ts';

test('an instant is formatted as by the JavaScript engine', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (instant) => {
      expect(toInstantText(instant)).toBe(instant.toISOString());
    }),
    { numRuns: 5_000 },
  );
});

test.each([0, -1, 1, 999, 1000, 86_399_999, 86_400_000, -86_400_000, 8.64e15, -8.64e15])(
  'an instant at %d is formatted as by the JavaScript engine',
  (at) => {
    expect(toInstantText(new Date(at))).toBe(new Date(at).toISOString());
  },
);

test('an invalid date is refused', () => {
  expect(() => toInstantText(new Date(Number.NaN))).toThrow(RangeError);
});

test('more days than are cached are distinguished', () => {
  for (let day = 0; day < 5_000; day++) {
    const instant = new Date(day * 86_400_000 + day);
    expect(toInstantText(instant)).toBe(instant.toISOString());
    expect(startOfDay(instant.toISOString().slice(0, 10))).toBe(day * 86_400_000);
  }
});
