import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect } from 'vitest';
import { root } from '../setup/process.ts';
import { apiKey, data, failed, test } from './stand-in.ts';

const run = promisify(execFile);

/** A folder inside the package, so that 'latchkey/management' is resolved as for a user. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(root, 'dist/management-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const program = `
import { createManagementClient, isManagementError, MeDocument } from 'latchkey/management';

const latchkey = createManagementClient({ baseUrl: process.argv[2] ?? '', apiKey: process.argv[3] ?? '' });
const { me } = await latchkey.request(MeDocument);
const name: string = me.name;
console.log(name);
await latchkey.request(MeDocument).catch((error: unknown) => {
  if (isManagementError(error, 'UNAUTHENTICATED')) console.log(error.code);
});
`;

test("the built package can be imported as 'latchkey/management' with its types", async ({ server }) => {
  writeFileSync(join(folder, 'program.ts'), program);
  const options = { strict: true, module: 'nodenext', target: 'es2023', types: ['node'] };
  const config = { compilerOptions: { ...options, skipLibCheck: false }, files: ['program.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', folder]).catch((error: unknown) => {
    throw new Error(`The program does not compile: ${JSON.stringify(error)}`);
  });
  server.answer(data({ me: { name: 'Ada' } }), failed('UNAUTHENTICATED'));
  const { stdout } = await run(process.execPath, [join(folder, 'program.js'), server.baseUrl, apiKey]);
  expect(stdout).toBe('Ada\nUNAUTHENTICATED\n');
});

async function bundle(source: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: join(root, 'src/management'), loader: 'ts' },
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

test('it bundles for browsers without any module of Node.js or the service', async () => {
  const { code, metafile } = await bundle("export * from './index.ts'");
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const builtins = imports.filter(({ path }) => path.startsWith('node:') || builtinModules.includes(path));
  expect(builtins).toEqual([]);
  expect(imports.filter(({ external }) => external)).toEqual([]);
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((path) => /^src\/(?!management\/)/.test(path))).toEqual([]);
  // From the graphql package only the printer, for documents given as trees.
  expect(inputs.some((path) => /graphql\/(execution|type|validation|utilities)\//.test(path))).toBe(false);
  const zipped = gzipSync(code, { level: 9 }).length;
  process.stderr.write(`The management client's bundle has ${code.length} bytes, ${zipped} compressed.\n`);
  expect(zipped).toBeLessThan(50_000);
});

test('a bundle has only the documents that its program uses', async () => {
  const { code } = await bundle("export { createManagementClient, MeDocument } from './index.ts'");
  const named = code.match(/\b(?:query|mutation|subscription) [A-Z]\w+/g);
  expect(named).toEqual(['query Me']);
});

test('the bundle requests and follows with only web globals', async ({ server }) => {
  const { code } = await bundle("export * from './index.ts'");
  const web = {
    fetch,
    URL,
    Headers,
    TextDecoder,
    AbortController,
    performance,
    setTimeout,
    clearTimeout,
    options: { baseUrl: server.baseUrl, apiKey },
  };
  const context = createContext(web);
  const evaluate = (script: string): unknown => runInContext(script, context);
  evaluate(`${code};globalThis.latchkey = latchkey;`);
  expect(evaluate('typeof process + typeof Buffer + typeof require')).toBe('undefined'.repeat(3));
  server.answer(data({ me: { name: 'Ada' } }));
  const ask = 'latchkey.createManagementClient(options).request(latchkey.MeDocument)';
  expect(await evaluate(ask)).toEqual({ me: { name: 'Ada' } });
  server.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: next\ndata: {"data":{"log":{"id":"1"}}}\n\n');
  });
  evaluate('const log = new latchkey.TypedDocumentString("subscription { log { id } }")');
  const follow = 'latchkey.createManagementClient(options).follow(log, {})';
  expect(await evaluate(`(async () => { for await (const entry of ${follow}) return entry; })()`)).toEqual({
    id: '1',
  });
});
