import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { modulesNamedBy, readsEnvironment } from './imports.ts';

/** What the files of one part may import. The most specific part that a file belongs to counts. */
interface Direction {
  /** A file, or a folder with a slash at its end. */
  readonly part: string;
  /** Parts of ours, besides the part itself. */
  readonly ours: readonly string[];
  /** May it import Node's own modules? */
  readonly node: boolean;
  /** Packages it may import; a name with a slash at its end stands for a scope or for the modules below. */
  readonly packages: 'any' | { readonly only: readonly string[] } | { readonly not: readonly string[] };
  /** May it read process.env? */
  readonly environment: boolean;
}

const http = ['hono', 'hono/', '@hono/', '@scalar/'];
const graphqlLibraries = ['graphql', 'graphql/', 'graphql-yoga', '@pothos/', '@graphql-tools/', '@envelop/'];
const database = ['pg', 'pg/', '@prisma/', '@electric-sql/'];
const redis = ['ioredis', 'rate-limiter-flexible'];
const isomorphic = ['zod', '@noble/'];

const server = { node: true, environment: false } as const;
const anywhere = { node: false, environment: false } as const;

const browser = [
  'react',
  'react/',
  'react-dom',
  'react-dom/',
  '@tanstack/',
  '@base-ui/react/',
  'uplot',
  'uplot/',
  'uqr',
];

/** A folder of the dashboard, and the folders that it may import from. */
const dashboardPart = (folder: string, below: readonly string[]): Direction => ({
  part: `src/dashboard/${folder}`,
  ours: below.map((name) => `src/dashboard/${name}`),
  packages: { only: browser },
  ...anywhere,
});

/**
 * Imports go one way:
 *
 *   main -> supervisor -> server -> app -> (graphql | rest) -> services -> (db | ephemeral | crypto) -> lib
 *
 * `protocol` is pure and imported by rest/sealed, services, crypto and sdk; `sdk` imports it and nothing else, and
 * `management` nothing of ours.
 */
const directions: readonly Direction[] = [
  { part: 'src/main.ts', ours: ['src/'], packages: 'any', node: true, environment: true },
  { part: 'src/tools/', ours: ['src/'], packages: 'any', node: true, environment: true },
  // The command line is the other entry of the process, and does with the database what the service does.
  {
    part: 'src/cli/',
    ours: [
      'src/config.ts',
      'src/unknown-variables.ts',
      'src/services/',
      'src/db/',
      'src/ephemeral/',
      'src/crypto/',
      'src/lib/',
    ],
    packages: { not: [...http, ...graphqlLibraries, ...redis] },
    node: true,
    environment: true,
  },
  // A process of its own, it hears signals as the service's do.
  {
    part: 'src/cli/main.ts',
    ours: ['src/cli/', 'src/supervisor/stop-signal.ts'],
    packages: { only: [] },
    node: true,
    environment: true,
  },
  // What the service counts of itself: numbers that anybody may raise, and a page of them for Prometheus.
  {
    part: 'src/telemetry/',
    ours: ['src/lib/'],
    packages: { only: ['prom-client'] },
    ...server,
  },
  {
    part: 'src/supervisor/',
    ours: [
      'src/server.ts',
      'src/config.ts',
      'src/telemetry/',
      'src/db/',
      'src/ephemeral/',
      'src/crypto/',
      'src/lib/',
    ],
    packages: { only: ['zod'] },
    ...server,
  },
  // A program of its own, for browsers, which shares no code with the service.
  dashboardPart('', ['']),
  dashboardPart('screens/', [
    'log-entries/',
    'terms/',
    'list/',
    'vault/',
    'shell/',
    'ui/',
    'api/',
    'generated/',
  ]),
  dashboardPart('log-entries/', ['ui/', 'api/', 'generated/']),
  dashboardPart('terms/', ['vault/', 'ui/', 'api/', 'generated/']),
  dashboardPart('list/', ['shell/', 'vault/', 'ui/', 'api/']),
  dashboardPart('vault/', ['ui/', 'api/', 'generated/']),
  dashboardPart('shell/', ['ui/', 'api/', 'generated/']),
  dashboardPart('ui/', ['api/', 'generated/']),
  dashboardPart('api/', ['generated/']),
  {
    part: 'src/dashboard/vite.config.ts',
    ours: ['src/dashboard/inline-documents.ts'],
    packages: { only: ['vite', '@vitejs/plugin-react'] },
    node: true,
    environment: false,
  },
  {
    part: 'src/dashboard/inline-documents.ts',
    ours: [],
    packages: { only: ['vite'] },
    node: true,
    environment: false,
  },
  {
    part: 'src/server.ts',
    ours: ['src/app.ts', 'src/deps.ts', 'src/config.ts', 'src/http-limits.ts', 'src/telemetry/', 'src/lib/'],
    packages: { not: [...database, ...redis, ...graphqlLibraries] },
    ...server,
  },
  {
    part: 'src/http-limits.ts',
    ours: ['src/lib/'],
    packages: { only: [] },
    ...server,
  },
  {
    part: 'src/app.ts',
    ours: [
      'src/deps.ts',
      'src/config.ts',
      'src/graphql/',
      'src/rest/',
      'src/services/',
      'src/telemetry/',
      'src/lib/',
    ],
    packages: { not: [...database, ...redis] },
    ...server,
  },
  {
    part: 'src/deps.ts',
    ours: [
      'src/config.ts',
      'src/services/',
      'src/db/',
      'src/ephemeral/',
      'src/crypto/',
      'src/telemetry/',
      'src/lib/',
    ],
    packages: { not: [...http, ...graphqlLibraries] },
    ...server,
  },
  {
    part: 'src/config.ts',
    ours: [
      'src/db/address.ts',
      'src/ephemeral/rate-limits.ts',
      'src/ephemeral/redis-address.ts',
      'src/lib/public-address.ts',
      'src/services/count-limits.ts',
    ],
    packages: { only: ['zod'] },
    node: true,
    environment: true,
  },
  {
    part: 'src/unknown-variables.ts',
    ours: ['src/config.ts'],
    packages: { only: ['fastest-levenshtein'] },
    ...anywhere,
  },
  {
    part: 'src/graphql/',
    ours: ['src/services/', 'src/ephemeral/', 'src/crypto/', 'src/telemetry/', 'src/lib/'],
    // The rate-limit directive is built on rate-limiter-flexible.
    packages: { not: [...database, 'ioredis'] },
    ...server,
  },
  // Pothos reads the data model and the types of the client. No other file of the transports may.
  ...['src/graphql/builder.ts', 'src/graphql/prisma.ts'].map((part) => ({
    part,
    ours: ['src/graphql/', 'src/services/', 'src/ephemeral/', 'src/crypto/', 'src/lib/', 'src/db/'],
    packages: { not: ['pg', 'pg/', '@electric-sql/', ...redis] },
    ...server,
  })),
  {
    part: 'src/rest/',
    ours: ['src/services/', 'src/ephemeral/', 'src/crypto/', 'src/telemetry/', 'src/lib/'],
    packages: { not: [...database, ...redis, ...graphqlLibraries] },
    ...server,
  },
  {
    part: 'src/rest/sealed/',
    ours: [
      'src/rest/',
      'src/services/',
      'src/ephemeral/',
      'src/crypto/',
      'src/telemetry/',
      'src/lib/',
      'src/protocol/',
    ],
    packages: { not: [...database, ...redis, ...graphqlLibraries] },
    ...server,
  },
  {
    part: 'src/services/',
    ours: ['src/db/', 'src/ephemeral/', 'src/crypto/', 'src/protocol/', 'src/telemetry/', 'src/lib/'],
    packages: { not: [...http, ...graphqlLibraries, ...redis] },
    ...server,
  },
  {
    part: 'src/db/',
    ours: ['src/telemetry/', 'src/lib/'],
    packages: { not: [...http, ...graphqlLibraries, ...redis] },
    ...server,
  },
  {
    part: 'src/ephemeral/',
    ours: ['src/telemetry/', 'src/lib/'],
    packages: { not: [...http, ...graphqlLibraries, ...database] },
    ...server,
  },
  {
    part: 'src/crypto/',
    ours: ['src/protocol/', 'src/lib/'],
    packages: { not: [...http, ...graphqlLibraries, ...database, ...redis] },
    ...server,
  },
  // Files in the user's state folder: it asks Node.js for its modules at run time, as bundles for browsers must not import them.
  {
    part: 'src/sdk/store/state-folder.ts',
    ours: [],
    packages: { only: isomorphic },
    node: false,
    environment: true,
  },
  { part: 'src/sdk/', ours: ['src/protocol/'], packages: { only: isomorphic }, ...anywhere },
  // Its types of the schema are generated: it shares no code with the service whose clients it is for.
  {
    part: 'src/management/',
    ours: [],
    packages: {
      only: ['zod', 'eventsource-parser', 'graphql', 'graphql/', '@graphql-typed-document-node/core'],
    },
    ...anywhere,
  },
  { part: 'src/protocol/', ours: [], packages: { only: isomorphic }, ...anywhere },
  {
    part: 'src/lib/',
    ours: [],
    packages: { not: [...http, ...graphqlLibraries, ...database, ...redis] },
    ...server,
  },
];

/** Files that may import by a computed name: a worker thread is given its program by URL. */
const computedImports = ['src/db/embedded/spawn.ts'];

const lies = (file: string, part: string) => file === part || (part.endsWith('/') && file.startsWith(part));
const isPackage = (name: string, pattern: string) => lies(name, pattern);

function directionOf(file: string): Direction | undefined {
  return directions
    .filter(({ part }) => lies(file, part))
    .toSorted((one, other) => other.part.length - one.part.length)[0];
}

/** What is wrong with a file, each fault in one sentence. */
function faultsOf(file: string, source: string): string[] {
  const direction = directionOf(file);
  if (direction === undefined)
    return [`${file} belongs to no part: give it a row in the table of directions`];
  const faults = modulesNamedBy(source)
    .filter((name) => !isAllowed(direction, file, name))
    .map((name) => `${file} must not import ${name}`);
  if (readsEnvironment(source) && !direction.environment) faults.push(`${file} must not read process.env`);
  return faults;
}

function isAllowed(direction: Direction, file: string, name: string): boolean {
  if (name === '<computed>') return computedImports.includes(file);
  if (name.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), name);
    return [direction.part, ...direction.ours].some((part) => lies(target, part));
  }
  if (name.startsWith('node:')) return direction.node;
  const { packages } = direction;
  if (packages === 'any') return true;
  if ('only' in packages) return packages.only.some((pattern) => isPackage(name, pattern));
  return !packages.not.some((pattern) => isPackage(name, pattern));
}

const root = path.resolve(import.meta.dirname, '../..');
const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => path.posix.join('src', file.split(path.sep).join('/')))
  .filter((file) => /\.tsx?$/.test(file) && !file.split('/').includes('generated'));

test('every file below src imports only what lies in its direction', () => {
  expect(files.length).toBeGreaterThan(20);
  const faults = files.flatMap((file) => faultsOf(file, readFileSync(path.join(root, file), 'utf8')));
  expect(faults).toEqual([]);
});

test.each([
  ['src/protocol/envelope.ts', "import { hash } from 'node:crypto';"],
  ['src/protocol/envelope.ts', "import { newId } from '../lib/ids.ts';"],
  ['src/protocol/envelope.ts', "import pg from 'pg';"],
  ['src/sdk/client.ts', "import type { Clock } from '../lib/clock.ts';"],
  ['src/sdk/client.ts', "const fs = await import('node:fs');"],
  ['src/management/client.ts', "import { serviceErrorCodes } from '../services/errors.ts';"],
  ['src/management/client.ts', "import { createClient } from '../sdk/index.ts';"],
  ['src/management/http.ts', "import { request } from 'node:http';"],
  ['src/management/options.ts', 'const key = process.env.API_KEY;'],
  ['src/lib/ids.ts', "import { loadConfig } from '../config.ts';"],
  ['src/dashboard/screens/mint/mint.tsx', "import { maskWarning } from '../../../services/license/mask.ts';"],
  ['src/dashboard/ui/page.tsx', "import { Shell } from '../shell/shell.tsx';"],
  ['src/dashboard/api/request.ts', "import { z } from 'zod';"],
  ['src/services/auth/login.ts', "import { Hono } from 'hono';"],
  ['src/services/auth/login.ts', "import { GraphQLError } from 'graphql';"],
  ['src/services/auth/login.ts', "import type { Context } from '../../graphql/context.ts';"],
  ['src/rest/routes/auth.ts', "import { PrismaClient } from '../../db/generated/prisma/client.ts';"],
  ['src/rest/routes/auth.ts', "import { Pool } from 'pg';"],
  ['src/rest/routes/auth.ts', "import { schema } from '../../graphql/schema.ts';"],
  ['src/rest/routes/auth.ts', "import { seal } from '../../protocol/envelope.ts';"],
  ['src/rest/routes/auth.ts', 'const port = process.env.PORT;'],
  ['src/graphql/types/license.ts', "import { Prisma } from '../../db/generated/prisma/client.ts';"],
  ['src/graphql/types/license.ts', "export * from '../../rest/errors.ts';"],
  ['src/graphql/builder.ts', "import { Pool } from 'pg';"],
  ['src/db/client.ts', "import { createCache } from '../ephemeral/cache.ts';"],
  ['src/crypto/keyring.ts', "import { database } from '../db/database.ts';"],
  ['src/ephemeral/redis.ts', "import { sealTicket } from '../crypto/session-ticket.ts';"],
  ['src/app.ts', "import { main } from './main.ts';"],
  ['src/deps.ts', 'export const url = process.env.DATABASE_URL;'],
  ['src/config.ts', "import { database } from './db/database.ts';"],
  ['src/server.ts', "import { Pool } from 'pg';"],
  ['src/supervisor/supervise.ts', 'const workers = process.env.WORKERS;'],
  ['src/db/client.ts', 'await import(name);'],
  ['src/surprise.ts', ''],
])('%s with `%s` is a fault', (file, source) => {
  expect(faultsOf(file, source)).toHaveLength(1);
});

test.each([
  ['src/main.ts', "import { loadConfig } from './config.ts';\nloadConfig(process.env);"],
  ['src/tools/demo.ts', "import { createApp } from '../app.ts';\nconsole.log(process.env.PORT);"],
  ['src/rest/sealed/validate.ts', "import { seal } from '../../protocol/envelope.ts';"],
  ['src/graphql/prisma.ts', "import { Prisma } from '../db/generated/prisma/client.ts';"],
  ['src/crypto/signer.ts', "import { sign } from 'node:crypto';\nimport '../protocol/signature.ts';"],
  ['src/protocol/signature.ts', "import { sha256 } from '@noble/hashes/sha2.js';"],
  ['src/sdk/client.ts', "import { seal } from '../protocol/envelope.ts';"],
  ['src/management/index.ts', "export * from './generated/documents.ts';"],
])('%s with `%s` is in order', (file, source) => {
  expect(faultsOf(file, source)).toEqual([]);
});

describe('the reader of imports', () => {
  test.each([
    ["import a from 'one';", ['one']],
    ['import a from "one";', ['one']],
    ["import 'one';", ['one']],
    ["import type { A } from './one.ts';", ['./one.ts']],
    ["import {\n  type A,\n  b,\n} from './one.ts';\nimport * as c from 'two';", ['./one.ts', 'two']],
    ["export { a } from './one.ts';\nexport * from './two.ts';", ['./one.ts', './two.ts']],
    ["export type { A } from './one.ts';", ['./one.ts']],
    ["const a = await import('one');", ['one']],
    ["type A = import('one').A;", ['one']],
    ["const a = require('one');", ['one']],
    ['const a = await import(name);', ['<computed>']],
    ['const a = await import(`./$' + '{name}.ts`);', ['<computed>']],
    ["// import a from 'one';", []],
    ["/**\n * import a from 'one';\n */\nexport const b = 1;", []],
    ["export const a = 'b from c';", []],
    ["export function from(a: string) {\n  return [a, 'one'];\n}", []],
  ])('finds in `%s` %j', (source, names) => {
    expect(modulesNamedBy(source)).toEqual(names);
  });

  test.each([
    'process.env.A',
    'process?.env',
    "process['env']",
    'const { env } = process;',
    'const { env: all } = globalThis.process;',
    "import { env } from 'node:process';",
    'import.meta.env.A',
  ])('sees that `%s` reads the environment', (source) => {
    expect(readsEnvironment(source)).toBe(true);
  });

  test.each([
    'process.exit(1)',
    'export function load(env: Env) {}',
    '// process.env is read elsewhere',
    'const { pid } = process;',
  ])('sees that `%s` does not', (source) => {
    expect(readsEnvironment(source)).toBe(false);
  });
});
