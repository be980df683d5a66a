import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../..');
const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

const manifest = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .parse(readJson('package.json'));
const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string().optional(),
        resolved: z.string().optional(),
        integrity: z.string().optional(),
        license: z.string().optional(),
        dev: z.boolean().default(false),
        hasInstallScript: z.boolean().default(false),
      }),
    ),
  })
  .parse(readJson('package-lock.json'));

/** The packages of an installation without development dependencies. */
const production = Object.entries(lock.packages).filter(([where, { dev }]) => where !== '' && !dev);

/** Licences that let a vendor run, change and redistribute the service without publishing source code. */
const allowed: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
  // PostgreSQL's own licence, which is similar to BSD.
  'PostgreSQL',
]);

/** Packages with other licences, or none in package.json: their purpose, and why this is acceptable. */
const exceptions: Readonly<Record<string, string>> = {
  elkjs: 'EPL-2.0; draws diagrams in the studio of the prisma command line, which the service does not load',
  'seq-queue': 'MIT by its LICENSE file; in the prisma command line, too',
};

/** The licence of an installed package. The lock file has it for most. */
function licenceOf(where: string, stated: string | undefined): string {
  if (stated !== undefined) return stated;
  const file = path.join(where, 'package.json');
  if (!existsSync(path.join(root, file))) return 'unknown';
  const { license } = z
    .object({ license: z.union([z.string(), z.object({ type: z.string() })]).optional() })
    .parse(readJson(file));
  return typeof license === 'string' ? license : (license?.type ?? 'unknown');
}

const nameOf = (where: string): string => where.split('node_modules/').at(-1) ?? '';

/** In an expression with OR one licence must be accepted, with AND all. */
const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, '')
    .split(/ or /i)
    .some((choice) => choice.split(/ and /i).every((licence) => allowed.has(licence.trim())));

test('every production dependency has an accepted licence', () => {
  expect(production.length).toBeGreaterThan(50);
  const others = production
    .map(([where, { license }]) => [where, licenceOf(where, license)] as const)
    .filter(([where, licence]) => !isAllowed(licence) && exceptions[nameOf(where)] === undefined);
  expect(others).toEqual([]);
});

test('a licence that is not accepted is detected, also in an expression', () => {
  for (const licence of ['GPL-3.0', 'unknown', 'MIT AND GPL-3.0', 'UNLICENSED', '']) {
    expect(isAllowed(licence), licence).toBe(false);
  }
  for (const licence of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC'])
    expect(isAllowed(licence), licence).toBe(true);
});

/** Packages with optional install scripts. The service does not need them. */
const withInstallScripts: Readonly<Record<string, string>> = {
  '@scarf/scarf': 'tells its maker that Swagger UI was installed; package.json turns it off',
  prisma: 'warns of an old Node.js',
  '@prisma/engines': 'downloads an engine that nothing here uses',
};

test('no package has a required install script', () => {
  const found = production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([where]) => where);
  expect(found.map(nameOf).filter((name) => withInstallScripts[name] === undefined)).toEqual([]);
});

test('every package comes from the registry and has a hash', () => {
  for (const [where, { resolved, integrity }] of Object.entries(lock.packages)) {
    if (where === '') continue;
    // Without a URL, npm uses its configured registry; the hash applies in any case.
    if (resolved !== undefined) expect(resolved, where).toMatch(/^https:\/\/registry\.npmjs\.org\//);
    expect(integrity, where).toMatch(/^sha512-/);
  }
});

test('every direct dependency is pinned to one version', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(all))
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test('SECURITY.md gives a reason for exactly the direct dependencies', () => {
  const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith('Dependencies')) ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, name = '', reason = '']) => ({
    name,
    reason,
  }));
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(manifest.dependencies).toSorted());
  for (const { name, reason } of rows) expect(reason.trim().length, name).toBeGreaterThan(10);
});

test('every file and test named in SECURITY.md exists', () => {
  const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
  const named = [...text.matchAll(/`((?:src|test|prisma)\/[\w./-]+)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(20);
  for (const file of named) expect(existsSync(path.join(root, file)), file).toBe(true);
});

test('the README of this folder mentions every test file', () => {
  const text = readFileSync(path.join(root, 'test/attack/README.md'), 'utf8');
  for (const file of readdirSync(import.meta.dirname)) {
    if (file.endsWith('.ts')) expect(text, file).toContain(`\`${file}\``);
  }
});
