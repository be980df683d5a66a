import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/lib/log.ts';
import { announce } from '../../src/supervisor/announce.ts';

/** The warnings at the start about origins whose pages cannot store a session cookie. */
function warningsOf(PUBLIC_URL: string | undefined, CORS_ORIGINS: string): string[] {
  const lines: string[] = [];
  const log = createLogger(
    'info',
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  announce(loadConfig({ PUBLIC_URL, CORS_ORIGINS }), log);
  return lines.filter((line) => line.includes('CORS_ORIGINS has'));
}

test.each([
  ['https://api.example.com', 'https://dash.example.com'],
  ['https://example.com', 'https://dash.example.com'],
  ['https://api.eu.example.com', 'https://dash.example.com:8443'],
  ['https://api.example.com/base', 'https://example.com'],
  ['http://localhost:4000', 'http://localhost:5173'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:5173'],
  ['http://[::1]:4000', 'http://[::1]:5173'],
  ['http://licenses:4000', 'http://licenses'],
])('%s and %s are one site: nothing is said', (publicUrl, origin) => {
  expect(warningsOf(publicUrl, origin)).toEqual([]);
});

test.each([
  ['https://licenses.example.com', 'https://dash.example.org'],
  ['https://example.com', 'https://example.net'],
  ['https://notexample.com', 'https://example.com'],
  ['https://api.example.com', 'http://dash.example.com'],
  [undefined, 'http://localhost:5173'],
  ['http://10.1.0.1:4000', 'http://192.168.0.1:4000'],
  ['http://[2001:db8::1]', 'http://[2001:db8::2]'],
  ['http://licenses:4000', 'http://dash:3000'],
  ['http://localhost:4000', 'http://app.localhost:4000'],
])('%s and %s are two sites: the start says so, and what to do', (publicUrl, origin) => {
  const [warning, ...more] = warningsOf(publicUrl, origin);
  expect(more).toEqual([]);
  expect(warning).toContain(origin);
  expect(warning).toContain(publicUrl ?? 'http://127.0.0.1:4000');
  expect(warning).toContain('API key');
});

test('each cross-site origin has its own line', () => {
  const origins = 'https://dash.example.com,https://one.example.org,https://two.example.org';
  expect(warningsOf('https://api.example.com', origins)).toHaveLength(2);
});
