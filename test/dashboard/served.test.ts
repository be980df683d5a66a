import { expect, test } from 'vitest';
import { baseOf } from '../../src/rest/dashboard.ts';
import { useServer } from '../setup/use-world.ts';

const server = useServer();
const html = { accept: 'text/html' };
const open = (path: string, headers: Record<string, string> = html) =>
  fetch(server.baseUrl + path, { headers, redirect: 'manual' });

test('a browser at / is led to the dashboard', async () => {
  const answer = await open('/');
  expect(answer.status).toBe(302);
  // Relative, so that it works under any path of a reverse proxy.
  expect(answer.headers.get('location')).toBe('app/');
});

test.each(['/app', '/app/', '/app/sign-in', '/app/applications/1/licenses?q=x'])(
  '%s gets the page, whose files all exist and never change',
  async (path) => {
    const answer = await open(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const page = await answer.text();
    const base = /<base href="([^"]+)">/.exec(page)?.[1] ?? '';
    const files = [...page.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const url = new URL(file, new URL(base, new URL(path, server.baseUrl)));
      expect(url.pathname).toMatch(/^\/app\/assets\//);
      const asset = await fetch(url);
      expect(asset.status, file).toBe(200);
      expect(asset.headers.get('cache-control')).toContain('immutable');
    }
  },
);

test('the page has no inline script or style, and its policy allows none', async () => {
  const answer = await open('/app/');
  const page = await answer.text();
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)|\bon\w+=/);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'self'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain('unsafe');
});

test.each([
  '/app/assets/gone-1234.js',
  '/app/assets/..%2f..%2fpackage.json',
  '/app/assets/../../package.json',
  '/app/assets/',
  '/app/assets/old/gone-1234.js',
])('%s is not found', async (path) => {
  const answer = await open(path, { accept: '*/*' });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ success: false, code: 'ROUTE_NOT_FOUND' });
});

test.each([
  ['/app', 'app/'],
  ['/app/', './'],
  ['/app/sign-in', './'],
  ['/app/account/security', '../'],
  ['/app/applications/1/licenses', '../../'],
])('from %s, the dashboard begins at %s', (path, base) => {
  expect(baseOf(path)).toBe(base);
  expect(new URL(base, `https://licenses.example/prefix${path}`).pathname).toBe('/prefix/app/');
});
