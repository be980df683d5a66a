/** @module-tag slow */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type PackedClient, packClients } from '../../src/tools/pack-clients.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { root, type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { startLocalRegistry } from '../setup/registry.ts';

const run = promisify(execFile);
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const dependencies = z.record(z.string(), z.string());
const rootManifest = z
  .object({ version: z.string(), dependencies })
  .parse(readJson(join(root, 'package.json')));

/** Outside of the repository, so that nothing of it is found by accident. */
let folder: string;
let packed: readonly PackedClient[];
/** The names that npm asked the registry for. */
let asked: readonly string[];
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-clients-'));
  packed = await packClients(join(folder, 'packages'));
  service = await startServiceProcess({ DATA_DIR: 'memory:' });
  const registry = await startLocalRegistry();
  try {
    writeFileSync(join(folder, 'package.json'), '{"name":"photo-lab","private":true,"type":"module"}');
    const options = {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...registry.env },
    };
    await run('npm', ['install', '--no-save', ...packed.map(({ file }) => file)], options);
    ({ asked } = registry);
  } finally {
    await registry.close();
  }
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

const installed = (name: string) => join(folder, 'node_modules', name);
const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(directory, file)).isFile(),
  );
const sizeOf = (directory: string): number =>
  filesOf(directory).reduce((size, file) => size + statSync(join(directory, file)).size, 0);

describe.each([
  [
    '@latchkey/client',
    ['sdk/index', 'protocol/signature'],
    /^(sdk|protocol)\/([\w-]+\/)?[\w-]+\.(js|d\.ts)$/,
  ],
  ['@latchkey/management', ['management/index'], /^management\/(generated\/)?[\w-]+\.(js|d\.ts)$/],
])('%s', (name, expected, built) => {
  const manifestOf = () =>
    z
      .looseObject({ version: z.string(), private: z.literal(true), dependencies })
      .parse(readJson(join(installed(name), 'package.json')));

  test('has the built client, its types and its page, and nothing else', () => {
    const files = filesOf(installed(name));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'package.json']));
    for (const module of expected)
      expect(files).toEqual(expect.arrayContaining([`${module}.js`, `${module}.d.ts`]));
    const pages = [
      'README.md',
      'package.json',
      ...(name === '@latchkey/client' ? ['protocol/SPEC.md', 'protocol/v2/SPEC.md'] : []),
    ];
    expect(files.filter((file) => !built.test(file)).sort()).toEqual(pages.sort());
  });

  test('is of this version, under 300 kB, and names no folder of the machine that packed it', () => {
    const { file, bytes } = packed.find((each) => each.name === name) ?? expect.fail(`${name} is not packed`);
    expect(bytes).toBe(statSync(file).size);
    expect(bytes).toBeLessThan(300_000);
    expect(manifestOf().version).toBe(rootManifest.version);
    for (const each of filesOf(installed(name))) {
      const text = readFileSync(join(installed(name), each), 'utf8');
      expect(text.includes(root.replace(/\/$/, '')), each).toBe(false);
      expect(/sourceMappingURL|(from |import\()['"]\.[^'"]*\.ts['"]/.test(text), each).toBe(false);
    }
  });

  test('depends on what it imports, in the very versions of the service, and on nothing of Node.js', () => {
    const imported = new Set<string>();
    for (const file of filesOf(installed(name)).filter((each) => /\.(js|d\.ts)$/.test(each))) {
      // Not what its comments show.
      const text = readFileSync(join(installed(name), file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      for (const [, module = ''] of text.matchAll(/(?:from|import) ?\(?'([^'.][^']*)'/g)) {
        expect(module.startsWith('node:') || builtinModules.includes(module), `${file}: ${module}`).toBe(
          false,
        );
        imported.add(
          module
            .split('/')
            .slice(0, module.startsWith('@') ? 2 : 1)
            .join('/'),
        );
      }
    }
    const declared = manifestOf().dependencies;
    expect(Object.keys(declared).sort()).toEqual([...imported].sort());
    for (const [dependency, version] of Object.entries(declared)) {
      expect(version, dependency).toBe(rootManifest.dependencies[dependency]);
    }
  });
});

test('an installation has the clients, their dependencies, and nothing of the service', () => {
  expect([...new Set(asked)].sort()).toEqual([
    '@graphql-typed-document-node/core',
    '@noble/ciphers',
    '@noble/curves',
    '@noble/ed25519',
    '@noble/hashes',
    'eventsource-parser',
    'graphql',
    'zod',
  ]);
  const sizes = ['@latchkey/client', '@latchkey/management', ...new Set(asked)].map(
    (name) => `${name} ${Math.round(sizeOf(installed(name)) / 1000)} kB`,
  );
  const tarballs = packed.map(({ name, bytes }) => `${name} ${Math.round(bytes / 1000)} kB packed`);
  process.stderr.write(`${[...tarballs, ...sizes].join(', ')}\n`);
});

const createdAnswer = z.object({
  sdkHint: z.looseObject({ appId: z.string(), snippet: z.string() }),
});
const mintedAnswer = z.object({ keys: z.tuple([z.object({ licenseKey: z.string() })]) });
const apiKeyAnswer = z.object({ key: z.object({ apiKey: z.string() }) });

/** An account with an application, a license key and an API key, as a vendor makes them. */
async function prepareVendor(email: string) {
  const account = { email, password: 'correct horse battery', name: 'Ada' };
  const registered = await new ApiClient(service.url).post('/api/v1/auth/register', account);
  const vendor = new ApiClient(service.url, { cookie: cookieOf(registered) ?? expect.fail('no cookie') });
  const post = async (path: string, body: object) => (await vendor.post(`/api/v1${path}`, body)).body;
  const { sdkHint } = createdAnswer.parse(await post('/apps/create', { name: 'Photo Lab' }));
  const batch = { applicationId: sdkHint.appId, amount: 1, durationSeconds: 0 };
  const { keys } = mintedAnswer.parse(await post('/licenses/create', batch));
  const { key } = apiKeyAnswer.parse(await post('/account/api-keys', { name: 'Reports' }));
  return { sdkHint, licenseKey: keys[0].licenseKey, apiKey: key.apiKey };
}

test("a vendor's program validates and manages with the installed clients", async () => {
  const { sdkHint, licenseKey, apiKey } = await prepareVendor('program@example.com');
  const program = `
${sdkHint.snippet}
console.log(answer.code, answer.status);
import { createManagementClient, MeDocument } from '@latchkey/management';
const latchkey = createManagementClient({ baseUrl: ${JSON.stringify(service.url)}, apiKey: ${JSON.stringify(apiKey)} });
console.log((await latchkey.request(MeDocument)).me.name);
`;
  // The service's own hint, with the names that it leaves to the program.
  const names = `const licenseKey = ${JSON.stringify(licenseKey)}, hwid = 'laptop';\n`;
  writeFileSync(join(folder, 'program.mjs'), names + program);
  const { stdout } = await run(process.execPath, [join(folder, 'program.mjs')], {
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') },
  });
  expect(stdout).toBe('OK active\nAda\n');
});

test('a program in CommonJS loads them too', async () => {
  const script =
    "console.log(typeof require('@latchkey/client').createClient, " +
    "typeof require('@latchkey/management').createManagementClient)";
  const { stdout } = await run(process.execPath, ['--input-type=commonjs', '-e', script], { cwd: folder });
  expect(stdout).toBe('function function\n');
});

/** The programs of a page that are in TypeScript. */
function examplesOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
}

test.each(['nodenext', 'bundler'])("the pages' examples have types under %s", async (moduleResolution) => {
  const sources = mkdtempSync(join(folder, `${moduleResolution}-`));
  const examples = [...examplesOf('docs/client.md'), ...examplesOf('docs/management.md')];
  expect(examples.length).toBeGreaterThan(3);
  for (const [index, code] of examples.entries()) writeFileSync(join(sources, `example-${index}.ts`), code);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
    moduleResolution,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: false,
  };
  writeFileSync(join(sources, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', sources]).catch((error: unknown) => {
    throw new Error(`The examples do not compile: ${z.object({ stdout: z.string() }).parse(error).stdout}`);
  });
});

test('a bundler keeps what the client needs and drops the rest, for pages without anything of Node.js', async () => {
  const bundle = async (contents: string) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'bundled',
      write: false,
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  };
  const { sdkHint, licenseKey } = await prepareVendor('page@example.com');
  const code = await bundle("export { createClient } from '@latchkey/client'");
  const web = {
    fetch,
    crypto,
    URL,
    TextEncoder,
    TextDecoder,
    AbortController,
    setTimeout,
    clearTimeout,
    performance,
  };
  const context = createContext({ ...web, sdkHint, licenseKey });
  runInContext(`${code};globalThis.bundled = bundled`, context);
  const answer: unknown = await runInContext('bundled.createClient(sdkHint).validate(licenseKey)', context);
  expect(answer).toMatchObject({ kind: 'verdict', valid: true });
  expect(await bundle("import '@latchkey/client'; import '@latchkey/management'")).not.toContain('fetch');
});

test("within the repository the client is imported as 'latchkey/client', as before", async () => {
  const script = "console.log(typeof (await import('latchkey/client')).createClient)";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
  expect(stdout).toBe('function\n');
});

test('packing twice gives the same bytes, so that a hash of them can be published', async () => {
  const again = await packClients(join(folder, 'again'));
  for (const [index, { file }] of again.entries()) {
    expect(readFileSync(file).equals(readFileSync(packed[index]?.file ?? ''))).toBe(true);
  }
});
