import { builtinModules } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect } from 'vitest';
import { test } from './fixture.ts';

async function bundle() {
  const { outputFiles, metafile } = await build({
    entryPoints: [new URL('../../src/sdk/index.ts', import.meta.url).pathname],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'latchkey',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild wrote nothing');
  return { code: output.text, metafile };
}

test('the SDK bundles for browsers without any module of Node.js', async () => {
  const { code, metafile } = await bundle();
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const builtins = imports.filter(({ path }) => path.startsWith('node:') || builtinModules.includes(path));
  expect(builtins).toEqual([]);
  expect(imports.filter(({ external }) => external)).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((path) => /^src\/(?!sdk\/|protocol\/)/.test(path))).toEqual([]);
  const zipped = gzipSync(code, { level: 9 }).length;
  process.stderr.write(`The SDK's bundle has ${code.length} bytes, ${zipped} compressed.\n`);
  expect(zipped).toBeLessThan(50_000);
});

test('the bundle validates with only web globals', async ({ server }) => {
  const { code } = await bundle();
  const web = {
    fetch,
    crypto,
    URL,
    TextEncoder,
    TextDecoder,
    AbortController,
    setTimeout,
    clearTimeout,
    options: { ...server.options, now: undefined },
  };
  const context = createContext(web);
  const run = (script: string): unknown => runInContext(script, context);
  run(`${code};globalThis.latchkey = latchkey;`);
  expect(run('typeof process + typeof Buffer + typeof require')).toBe('undefined'.repeat(3));
  expect(await run("latchkey.createClient(options).validate('K', { hwid: 'device-1' })")).toMatchObject({
    kind: 'verdict',
    valid: true,
    subscriptionTier: 3,
  });
  server.onValidate = ({ sealed, inner }) => sealed(inner, { seed: new Uint8Array(32) });
  expect(await run("latchkey.createClient(options).validate('K')")).toMatchObject({
    kind: 'failure',
    reason: 'untrusted-answer',
  });
});
