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

/** A client package. */
interface ClientPackage {
  readonly name: `@latchkey/${string}`;
  readonly description: string;
  /** The folder in src whose index.ts is the entry point. */
  readonly part: string;
  /** The document for its users, which becomes its README. */
  readonly page: string;
  /** Additional files of src. */
  readonly extra: readonly string[];
  /** Its dependencies, in the versions of the service: those are tested together. */
  readonly dependencies: readonly string[];
}

const packages: readonly ClientPackage[] = [
  {
    name: '@latchkey/client',
    description: "Proves a program's license to a Latchkey service, over a sealed and signed protocol.",
    part: 'sdk',
    page: 'docs/client.md',
    extra: ['protocol/SPEC.md', 'protocol/v2/SPEC.md'],
    dependencies: ['@noble/ciphers', '@noble/curves', '@noble/ed25519', '@noble/hashes', 'zod'],
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

/** Packs the clients into a folder, after removing earlier client packages from it. */
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

/** Compiles the part's index.ts and what it imports, without the types of Node.js. */
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
  // The compiler keeps `.ts` extensions in declarations, which other tools cannot resolve.
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
    if (version === undefined) throw new Error(`${dependency} is not a dependency in package.json`);
    return [dependency, version] as const;
  };
  const types = `./${part}/index.d.ts`;
  const main = `./${part}/index.js`;
  return {
    name,
    version: own.version,
    description,
    license: own.license,
    // The package is distributed as a file. `private` keeps npm from publishing it by accident.
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
  // On Windows, npm is a script that needs a shell.
  await promisify(execFile)('npm', args, { cwd: root, shell: process.platform === 'win32' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, bytes } of await packClients(process.argv[2] ?? join(root, 'dist/packages'))) {
    process.stdout.write(`${relative('', file)} (${Math.ceil(bytes / 1000)} kB)\n`);
  }
}
