import { expect, test } from 'vitest';
import { readableLines } from '../../src/lib/readable-lines.ts';

const read = readableLines({ color: false });
const line = (fields: object) =>
  `${JSON.stringify({ level: 30, time: '2026-11-22T10:00:00.000Z', ...fields })}\n`;

test('a request is one line with the request and the response', () => {
  const text = read(
    line({
      msg: 'request',
      transport: 'rest',
      method: 'GET',
      route: '/health',
      status: 200,
      durationMilliseconds: 1.5,
      bytesIn: 9,
    }),
  );
  expect(text).toMatch(/INFO.*: request GET \/health 200 1\.5 ms\n$/);
});

test('a text from a client cannot control the terminal', () => {
  const hostile = '\u001b]0;title\u0007\u009b31m\u202eabc\u007f\r\b';
  for (const fields of [
    { msg: hostile },
    { msg: 'x', userText: hostile },
    { msg: 'x', err: { type: 'Error', message: hostile, stack: hostile } },
  ]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not occur.
    expect(read(line(fields))).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});

test('a backslash before an apparent escape stays text', () => {
  expect(read(line({ msg: 'C:\\u001b' }))).toContain('C:\\u001b');
});
