import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { hasChromium } from '../setup/chromium-program.ts';
import { root } from '../setup/process.ts';
import { useWorld } from '../setup/use-world.ts';
import { signIn, useBrowser } from './browser.ts';

const { server, world } = useWorld();
const browser = useBrowser();

const assets = join(root, 'dist/dashboard/assets');
const kilobyte = 1_000;

const compressed = (name: string): number => gzipSync(readFileSync(join(assets, name))).length;
const sizeOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + compressed(name), 0) / kilobyte;

test('all scripts and styles together take at most 320 kB, compressed', () => {
  expect(sizeOf(readdirSync(assets))).toBeLessThanOrEqual(320);
});

test('no file of the dashboard names another host or evaluates text', () => {
  for (const name of readdirSync(assets).filter((file) => file.endsWith('.js'))) {
    expect(readFileSync(join(assets, name), 'utf8'), name).not.toMatch(/\bnew Function\(|\beval\(/);
  }
});

test.skipIf(!hasChromium)('the first screen loads at most 170 kB, its charts included', async () => {
  const { page } = await browser.visit(server.baseUrl);
  const loaded = new Set<string>();
  await signIn(page, world.login);
  page.on('request', (request) => {
    const [, name] = /\/app\/assets\/([^/?]+)$/.exec(request.url()) ?? [];
    if (name !== undefined) loaded.add(name);
  });
  await page.goto('.');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.waitForLoadState('load');
  await page.waitForTimeout(500);
  expect(loaded.size).toBeGreaterThan(3);
  expect(sizeOf([...loaded])).toBeLessThanOrEqual(170);
});
