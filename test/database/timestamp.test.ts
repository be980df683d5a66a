import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { parseJsonTimestamp, parseTimestamp } from '../../src/db/timestamp.ts';

const parseAny = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

describe('a timestamp is parsed as by the driver', () => {
  test.each([
    '2026-11-20 09:41:07.123+00',
    '2026-11-20 09:41:07.12+00',
    '2026-11-20 09:41:07.1+00',
    '2026-11-20 09:41:07.001+00',
    '2026-11-20 09:41:07+00',
    '2024-02-29 23:59:59.999+00',
    '1969-12-31 23:59:59.5+00',
    '9999-12-31 23:59:59.999+00',
    '2026-11-20 09:41:07.123456+00',
    '2026-11-20 09:41:07.123+02',
    '2026-11-20 09:41:07.123-03:30',
    '10000-01-01 00:00:00+00',
    '10000-01-01 00:00:00.123+00',
    '0099-01-02 03:04:05+00',
    '0001-12-31 23:59:59.5+00',
    '0044-03-15 00:00:00+00 BC',
  ])('%s', (text) => {
    expect(parseTimestamp(text).getTime()).toBe(Number(parseAny(text)));
    const json = text
      .replace(' ', 'T')
      .replace(/([+-]\d\d)(:\d\d)?(?= BC|$)/, (_, hours, minutes = ':00') => hours + minutes);
    expect(parseJsonTimestamp(json).getTime()).toBe(Number(parseAny(text)));
  });

  test('every month, every hour and every millisecond', () => {
    for (let at = Date.UTC(2023, 0, 1); at < Date.UTC(2025, 0, 1); at += 23 * 3_600_000 + 61_001) {
      const instant = new Date(at);
      const text = instant.toISOString();
      expect(parseTimestamp(text.replace('T', ' ').replace('Z', '+00'))).toEqual(instant);
      expect(parseJsonTimestamp(text.replace('Z', '+00:00'))).toEqual(instant);
    }
  });

  test.each(['infinity', '-infinity'])('%s', (text) => {
    expect(parseTimestamp(text)).toBe(parseAny(text));
    expect(parseJsonTimestamp(text)).toBe(parseAny(text));
  });
});

// If null were returned, a license would never expire.
describe.each([
  ['a timestamp', parseTimestamp],
  ["JSON's timestamp", parseJsonTimestamp],
])('%s that is invalid is refused', (_, parse) => {
  test.each([
    '20/11/2026 09:41:07.123 UTC',
    '20.11.2026 09:41:07.123 UTC',
    'Fri 20 Nov 09:41:07.123 2026 UTC',
    'never',
    '',
  ])('%s', (text) => {
    expect(() => parse(text)).toThrow(RangeError);
  });

  test('a day that no month has', () => {
    const ofJson = parse === parseJsonTimestamp;
    expect(() => parse(ofJson ? '2026-13-45T09:41:07+00:00' : '2026-13-45 09:41:07+00')).toThrow(RangeError);
  });
});
