import { expect, test } from 'vitest';
import { httpRequest, parseAnswer } from './http-message.ts';
import { median, quantile } from './statistics.ts';

const answers: [string, string][] = [
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nX: y\r\n\r\n{"a":"é…"}'],
  ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n9\r\n:"é…"}\r\n0\r\n\r\n'],
];

test.each(answers)('an answer with %s is read when its last byte has come, and not before', (_, text) => {
  const bytes = Buffer.from(text);
  for (let length = 0; length < bytes.length; length += 1) {
    expect(parseAnswer(bytes.subarray(0, length))).toBeNull();
  }
  const answer = parseAnswer(bytes);
  expect(answer?.status).toBe(200);
  expect(JSON.parse(String(answer?.body))).toEqual({ a: 'é…' });
});

test.each([
  ['bytes beyond its length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab'],
  ['bytes beyond its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\na'],
  ['neither length nor chunks', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'],
  ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n'],
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
])('an answer with %s is refused', (_, text) => {
  expect(() => parseAnswer(Buffer.from(text))).toThrow();
});

test('a request states the length of its body in bytes', () => {
  const { bytes } = httpRequest({ method: 'POST', path: '/a', headers: { X: 'y' }, body: { é: 1 } });
  const [head = '', body = ''] = bytes.toString().split('\r\n\r\n');
  expect(head.split('\r\n')[0]).toBe('POST /a HTTP/1.1');
  expect(head).toContain('\r\nX: y');
  expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}`);
  expect(body).toBe('{"é":1}');
});

test('a request sends content of another type as it is', () => {
  const content = { type: 'application/vnd.example', bytes: Uint8Array.of(0, 13, 10, 0xff) };
  const { bytes } = httpRequest({ method: 'POST', path: '/a', content });
  const endOfHead = bytes.indexOf('\r\n\r\n') + 4;
  const head = bytes.toString('latin1', 0, endOfHead);
  expect(head).toContain('\r\nContent-Type: application/vnd.example\r\n');
  expect(head).toContain('\r\nContent-Length: 4\r\n');
  expect([...bytes.subarray(endOfHead)]).toEqual([...content.bytes]);
});

test('quantiles are nearest ranks, whatever the order', () => {
  const values = [30, 10, 20, 100, 40, 50, 60, 70, 80, 90];
  expect([0.5, 0.99, 0].map((share) => quantile(values, share))).toEqual([50, 100, 10]);
  expect(median(values)).toBe(55);
  expect(median([3, 1, 2])).toBe(2);
});
