import { builtinModules } from 'node:module';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { bundleForBrowsers, openPage } from './browser-bundle.ts';
import { test } from './fixture.ts';

test('the SDK bundles for browsers without any module of Node.js', async () => {
  const { code, metafile } = await bundleForBrowsers();
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const builtins = imports.filter(({ path }) => path.startsWith('node:') || builtinModules.includes(path));
  expect(builtins).toEqual([]);
  expect(imports.filter(({ external }) => external)).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((path) => /^src\/(?!sdk\/|protocol\/)/.test(path))).toEqual([]);
  const zipped = gzipSync(code, { level: 9 }).length;
  process.stderr.write(`The SDK's bundle has ${code.length} bytes, ${zipped} compressed.\n`);
  expect(zipped).toBeLessThan(75_000);
});

test('the bundle validates with only web globals', async ({ server }) => {
  const run = await openPage({ options: { ...server.options, now: undefined } });
  expect(run('typeof process + typeof Buffer + typeof require')).toBe('undefined'.repeat(3));
  expect(await run("latchkey.createClient(options).validate('K', { hwid: 'device-1' })")).toMatchObject({
    kind: 'verdict',
    valid: true,
    subscriptionTier: 3,
    graceEndsAt: null,
    entitlements: {},
    metadata: {},
  });
  server.onValidate = ({ sealed, inner }) => sealed(inner, { seed: new Uint8Array(32) });
  expect(await run("latchkey.createClient(options).validate('K')")).toMatchObject({
    kind: 'failure',
    reason: 'untrusted-answer',
  });
});
