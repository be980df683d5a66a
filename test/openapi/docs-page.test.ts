import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useServer } from '../setup/use-world.ts';
import { routes } from './contract.ts';

const server = useServer();

const read = async (path: string) => {
  const answer = await fetch(server.baseUrl + path);
  expect(answer.status, path).toBe(200);
  return { headers: answer.headers, text: await answer.text() };
};
/** Addresses that a page names for loading. */
const loaded = (html: string) => [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');

test('everything that the page names is on this host, and there', async () => {
  const { text } = await read('/docs');
  const addresses = loaded(text);
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) {
    const { origin, pathname } = new URL(address, `${server.baseUrl}/docs`);
    expect(origin, address).toBe(server.baseUrl);
    await read(pathname);
  }
});

test('a browser is told to load and ask nothing from any other host', async () => {
  const { headers } = await read('/docs');
  const policy = headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
  expect(directives.get('default-src')).toEqual(["'none'"]);
  for (const sources of directives.values()) {
    for (const source of sources) expect(["'none'", "'self'", "'unsafe-inline'", 'data:']).toContain(source);
  }
  expect(directives.get('script-src')).toEqual(["'self'"]);
});

test('the style sheet and the start script fetch nothing from elsewhere', async () => {
  const { text: style } = await read('/docs/swagger-ui.css');
  for (const [, address = ''] of style.matchAll(/url\(["']?([^"')]{0,5})/g)) expect(address).toBe('data:');
  expect(style).not.toContain('@import');
  const { text: script } = await read('/docs/start.js');
  expect(script).not.toMatch(/\/\//);
  expect(script).toContain('validatorUrl: null');
});

test('the library is kept by browsers, the page is not', async () => {
  expect((await read('/docs/swagger-ui-bundle.js')).headers.get('cache-control')).toMatch(
    /max-age=\d{7,}, immutable/,
  );
  expect((await read('/docs')).headers.get('cache-control')).toBe('no-store');
});

test('the library is sent compressed to whoever takes it so, and is the same', async () => {
  const path = `${server.baseUrl}/docs/swagger-ui-bundle.js`;
  const [compressed, plain] = await Promise.all([
    fetch(path, { headers: { 'Accept-Encoding': 'gzip' } }),
    fetch(path, { headers: { 'Accept-Encoding': 'identity' } }),
  ]);
  expect(compressed.headers.get('content-encoding')).toBe('gzip');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
  const [one, other] = [await compressed.text(), await plain.text()];
  expect(one.length).toBeGreaterThan(1_000_000);
  expect(one === other).toBe(true);
});

test('nothing else of the package is served', async () => {
  for (const path of ['/docs/package.json', '/docs/index.html', '/docs/..%2fpackage.json']) {
    expect((await fetch(server.baseUrl + path)).status, path).toBe(404);
  }
});

const chromium = '/usr/bin/chromium';
test.skipIf(!existsSync(chromium))('a browser that reaches no other host shows every operation', async () => {
  const profile = await mkdtemp(join(tmpdir(), 'latchkey-docs-'));
  try {
    const { stdout } = await promisify(execFile)(
      chromium,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        `--user-data-dir=${profile}`,
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--virtual-time-budget=20000',
        '--dump-dom',
        `${server.baseUrl}/docs`,
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    for (const { operationId, path } of routes)
      expect(stdout, `${operationId} ${path}`).toContain(`-${operationId}"`);
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
