import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { replacing } from '../setup/replacing.ts';

test('the files that replace modules are those that run in a process of their own', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts'));
  expect(files).toEqual(expect.arrayContaining(replacing));
  const replaces = /\bvi\s*\.\s*(?:mock|doMock|resetModules|stubGlobal|stubEnv)[<(]/;
  expect(files.filter((name) => replaces.test(readFileSync(name, 'utf8'))).sort()).toEqual(
    [...replacing].sort(),
  );
});
