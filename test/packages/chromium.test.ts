/** @module-tag slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bundleForBrowsers } from '../sdk/browser-bundle.ts';
import { useWorld } from '../setup/use-world.ts';

// The SDK in a real browser, on a page of another origin than the service.

const chromium = '/usr/bin/chromium';
const isMissing = !existsSync(chromium);
if (isMissing) process.stderr.write(`Left out: the SDK in a browser (install ${chromium}).\n`);

const { server, world } = useWorld();

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** Opens a page that runs a script after the bundle, and returns what the script's promise resolves to. */
async function runInChromium(script: string): Promise<unknown> {
  const { code } = await bundleForBrowsers();
  let deliver = (_result: unknown) => {};
  const result = new Promise<unknown>((resolve) => {
    deliver = resolve;
  });
  const files: Readonly<Record<string, [type: string, body: string]>> = {
    '/': [
      'text/html',
      '<!doctype html><meta charset="utf-8"><script src="/latchkey.js"></script><script src="/program.js"></script>',
    ],
    '/latchkey.js': ['text/javascript', code],
    '/program.js': [
      'text/javascript',
      `const send = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
       (async () => { ${script} })().then(send, (error) => send({ error: String(error?.stack) }));`,
    ],
  };
  const pages = createServer((request, response) => {
    if (request.url === '/result') {
      request
        .setEncoding('utf8')
        .toArray()
        .then((parts) => deliver(JSON.parse(parts.join(''))));
      response.end();
      return;
    }
    const [type, body] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const { port } = z.object({ port: z.number() }).parse(pages.address());
  const profile = await mkdtemp(join(tmpdir(), 'latchkey-chromium-'));
  const browser = spawn(chromium, [...flags, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`], {
    stdio: 'ignore',
  });
  const ended = once(browser, 'exit');
  try {
    return await Promise.race([result, ended.then(() => ({ error: 'Chromium has ended' }))]);
  } finally {
    browser.kill();
    await ended;
    pages.closeAllConnections();
    pages.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Counts the agreements that Web Crypto makes. */
const counting = `
  let byPlatform = 0;
  const { subtle } = crypto;
  const deriveBits = subtle.deriveBits.bind(subtle);
  subtle.deriveBits = (...given) => { byPlatform += 1; return deriveBits(...given); };`;
const removed = `
  let byPlatform = 0;
  Object.defineProperty(crypto, 'subtle', { value: undefined });`;

describe.skipIf(isMissing).each([
  ['with X25519 of Web Crypto', counting, 7],
  ['without Web Crypto, by JavaScript', removed, 0],
])('in Chromium, %s,', (_how, prepare, agreements) => {
  test('the SDK validates, logs in, keeps the key and a lease, and trusts no changed answer', async () => {
    const application = await world.createApplication();
    await application.settings({ leasesEnabled: true });
    const { licenseKey } = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 3 });
    const options = {
      baseUrl: server.baseUrl,
      appId: application.id,
      publicKeyB64: application.publicKeyB64,
      version: application.version,
    };
    const result = await runInChromium(`${prepare}
      const options = ${JSON.stringify(options)};
      const asked = [];
      const counted = (url, init) => { asked.push(new URL(url).pathname); return fetch(url, init); };
      const changed = async (url, init) => {
        const answer = await fetch(url, init);
        const bytes = new Uint8Array(await answer.arrayBuffer());
        if (String(url).endsWith('/call')) bytes[50] ^= 1;
        return new Response(bytes, { status: answer.status });
      };
      const first = latchkey.createClient({ ...options, fetch: counted });
      const outcomes = [
        await first.validate(${JSON.stringify(licenseKey)}, { hwid: 'laptop' }),
        await first.validate(${JSON.stringify(licenseKey)}, { hwid: 'desktop' }),
        await first.login({ username: 'ada', password: 'wrong password' }),
        await latchkey.createClient({ ...options, fetch: counted }).validate(${JSON.stringify(licenseKey)}, { hwid: 'laptop' }),
        await latchkey.createClient({ ...options, fetch: changed }).validate(${JSON.stringify(licenseKey)}, { hwid: 'laptop' }),
      ];
      const leased = { ...options, leases: true };
      const offline = { ...leased, fetch: () => Promise.reject(new Error('no network')) };
      outcomes.push(
        await latchkey.createClient(leased).validate(${JSON.stringify(licenseKey)}, { hwid: 'laptop' }),
        await latchkey.createClient(offline).validate(${JSON.stringify(licenseKey)}, { hwid: 'laptop' }),
      );
      return { outcomes, asked, byPlatform, names: Object.keys(localStorage).sort() };`);
    const call = '/api/v2/call';
    expect(result).toEqual({
      outcomes: [
        expect.objectContaining({ kind: 'verdict', valid: true, subscriptionTier: 3, source: 'service' }),
        expect.objectContaining({ kind: 'verdict', valid: false, code: 'HWID_MISMATCH' }),
        expect.objectContaining({ kind: 'verdict', valid: false, code: 'INVALID_CREDENTIALS' }),
        expect.objectContaining({ kind: 'verdict', valid: true, source: 'service' }),
        expect.objectContaining({ kind: 'failure', reason: 'untrusted-answer' }),
        expect.objectContaining({ kind: 'verdict', valid: true, source: 'service' }),
        expect.objectContaining({ kind: 'verdict', valid: true, source: 'lease', subscriptionTier: 3 }),
      ],
      asked: [`/api/v2/keys/${application.id}`, call, call, call, call],
      byPlatform: agreements,
      names: [`latchkey/${application.id}/keys`, `latchkey/${application.id}/leases`],
    });
  });
});
