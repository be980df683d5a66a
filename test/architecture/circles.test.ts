import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { modulesNamedBy } from './imports.ts';

/** The files that each file imports, types included. */
type Imports = ReadonlyMap<string, readonly string[]>;

/**
 * The parts of `services`, lower ones first. A file imports from its own part and from lower ones. Files that lie in
 * `services` itself are foundations of all resources.
 */
const parts = [
  'changes',
  'outbox',
  'service-key',
  'foundations',
  'security-log',
  'event',
  'application',
  'ban',
  'revocation',
  'license',
  'explain',
  'policy',
  'device',
  'lease',
  'end-user',
  'self-service',
  'client-session',
  'client-call',
  'api-key',
  'account-session',
  'second-factor',
  'auth',
  'metrics',
  'webhook',
  'account',
];

const reason =
  'The environment names what a process opens at its start, some of which are resources. Types only: nothing is called.';
/** Imports of a higher part, each with its reason. Four at most. */
const backImports: Readonly<Record<string, string>> = {
  'src/services/context.ts imports src/services/client-session/caches.ts': reason,
  'src/services/context.ts imports src/services/security-log/feed.ts': reason,
  'src/services/context.ts imports src/services/security-log/writer.ts': reason,
};

function partOf(file: string): string | null {
  const [src, services, folder, name] = file.split('/');
  if (src !== 'src' || services !== 'services' || folder === undefined) return null;
  return name === undefined ? 'foundations' : folder;
}

function findBackImports(imports: Imports): string[] {
  const rank = (file: string): number => {
    const part = partOf(file);
    return part === null ? -1 : parts.indexOf(part);
  };
  return [...imports].flatMap(([file, targets]) =>
    partOf(file) === null
      ? []
      : targets.filter((target) => rank(target) > rank(file)).map((target) => `${file} imports ${target}`),
  );
}

/** A path of imports that ends where it begins, for each file that is on one; the first that is found. */
function findCircle(imports: Imports): readonly string[] | null {
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): readonly string[] | null => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const target of imports.get(file) ?? []) {
      const circle = walk(target, [...trail, file]);
      if (circle !== null) return circle;
    }
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const circle = walk(file, []);
    if (circle !== null) return circle;
  }
  return null;
}

const root = path.resolve(import.meta.dirname, '../..');
const imports: Imports = new Map(
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join('src', file.split(path.sep).join('/')))
    // Tools are no part of the product.
    .filter((file) => /\.ts$/.test(file) && !/\/generated\/|^src\/tools\//.test(file))
    .map((file) => [
      file,
      modulesNamedBy(readFileSync(path.join(root, file), 'utf8'))
        .filter((name) => name.startsWith('.'))
        .map((name) => path.posix.join(path.posix.dirname(file), name)),
    ]),
);

test('no file of src imports itself by way of others', () => {
  expect(imports.size).toBeGreaterThan(100);
  expect(findCircle(imports)).toBeNull();
});

test('every folder of services has its place', () => {
  const found = new Set([...imports.keys()].flatMap((file) => partOf(file) ?? []));
  expect([...found].sort()).toEqual([...parts].sort());
});

test('no part of services imports a higher one, but for the listed files', () => {
  expect(findBackImports(imports).sort()).toEqual(Object.keys(backImports).sort());
  expect(Object.keys(backImports).length).toBeLessThanOrEqual(4);
});

test('a circle is found, of types and over several files too', () => {
  const chain: Imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', []],
  ]);
  expect(findCircle(chain)).toBeNull();
  expect(findCircle(new Map([...chain, ['d', ['a']]]))).toEqual(['a', 'b', 'd', 'a']);
});

test.each([
  ['src/services/transaction.ts', 'src/services/license/snapshot.ts'],
  ['src/services/changes/watch.ts', 'src/services/errors.ts'],
  ['src/services/license/validate.ts', 'src/services/client-session/seal-answer.ts'],
])('that %s imports %s is a back import', (file, target) => {
  expect(findBackImports(new Map([[file, [target]]]))).toEqual([`${file} imports ${target}`]);
  expect(findBackImports(new Map([[target, [file]]]))).toEqual([]);
});
