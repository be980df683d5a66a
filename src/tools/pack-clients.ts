import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A client as a package of its own. */
interface ClientPackage {
  readonly name: `@latchkey/${string}`;
  readonly description: string;
  /** The folder below src whose index.ts is the package. */
  readonly part: string;
  /** The page for those who install it, which becomes its README. */
  readonly page: string;
  /** Further files of src. */
  readonly extra: readonly string[];
  /** What it imports, in the versions that the service has: those are tested together. */
  readonly dependencies: readonly string[];
}

const packages: readonly ClientPackage[] = [
  {
    name: '@latchkey/client',
    description: "Proves a program's license to a Latchkey service, over a sealed and signed protocol.",
    part: 'sdk',
    page: 'docs/client.md',
    extra: ['protocol/SPEC.md'],
    dependencies: ['@noble/ciphers', '@noble/ed25519', '@noble/hashes', 'zod'],
  },
  {
    name: '@latchkey/management',
    description: "Manages a Latchkey account's applications and licenses, with the types of every operation.",
    part: 'management',
    page: 'docs/management.md',
    extra: [],
    dependencies: ['@graphql-typed-document-node/core', 'eventsource-parser', 'graphql', 'zod'],
  },
];

export interface PackedClient {
  readonly name: string;
  /** The tarball's path. */
  readonly file: string;
  readonly bytes: number;
}

/** Packs the clients into a folder, which has no other client packages afterwards. */
export async function packClients(folder: string): Promise<readonly PackedClient[]> {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    if (/^latchkey-.*\.tgz$/.test(name)) rmSync(join(folder, name));
  }
  return Promise.all(packages.map((client) => pack(client, resolve(folder))));
}

async function pack(client: ClientPackage, folder: string): Promise<PackedClient> {
  const { name, part, page, extra } = client;
  const staging = mkdtempSync(join(tmpdir(), 'latchkey-pack-'));
  try {
    const contents = join(staging, 'package');
    await compile(part, staging, contents);
    for (const file of extra) cpSync(join(root, 'src', file), join(contents, file));
    cpSync(join(root, page), join(contents, 'README.md'));
    const manifest = manifestOf(client);
    writeFileSync(join(contents, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await npm(['pack', contents, '--silent', '--ignore-scripts', '--pack-destination', folder]);
    const file = join(folder, `${name.slice(1).replace('/', '-')}-${manifest.version}.tgz`);
    return { name, file, bytes: statSync(file).size };
  } finally {
    rmSync(staging, { recursive: true });
  }
}

/** Compiles what the part's index.ts reaches and nothing else, without the types of Node.js. */
async function compile(part: string, staging: string, outDir: string): Promise<void> {
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    compilerOptions: { rootDir: join(root, 'src'), outDir, sourceMap: false, incremental: false, types: [] },
    include: [],
    files: [join(root, 'src', part, 'index.ts')],
  };
  writeFileSync(join(staging, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', staging]);
  // The compiler leaves `.ts` in declarations, which only itself can follow.
  for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = readFileSync(join(outDir, name), 'utf8');
    writeFileSync(
      join(outDir, name),
      text.replaceAll(/(from |import\()(['"]\.[^'"]*)\.ts(['"])/g, '$1$2.js$3'),
    );
  }
}

const rootManifest = z.object({
  version: z.string(),
  license: z.string(),
  dependencies: z.record(z.string(), z.string()),
});

function manifestOf({ name, description, part, dependencies }: ClientPackage) {
  const own = rootManifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const versionOf = (dependency: string) => {
    const version = own.dependencies[dependency];
    if (version === undefined) throw new Error(`${dependency} is no dependency of package.json`);
    return [dependency, version] as const;
  };
  const types = `./${part}/index.d.ts`;
  const main = `./${part}/index.js`;
  return {
    name,
    version: own.version,
    description,
    license: own.license,
    // It is handed on as a file: npm then refuses to publish it where its name is not the vendor's.
    private: true,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19.0' },
    main,
    types,
    exports: { '.': { types, default: main }, './package.json': './package.json' },
    dependencies: Object.fromEntries(dependencies.map(versionOf)),
  };
}

async function npm(args: readonly string[]): Promise<void> {
  // On Windows npm is a script, which only a shell runs.
  await promisify(execFile)('npm', args, { cwd: root, shell: process.platform === 'win32' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, bytes } of await packClients(process.argv[2] ?? join(root, 'dist/packages'))) {
    process.stdout.write(`${relative('', file)} (${Math.ceil(bytes / 1000)} kB)\n`);
  }
}
