import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { variableNames } from '../../src/config.ts';
import { rateLimitDefaults } from '../../src/ephemeral/rate-limits.ts';
import { countLimitDefaults } from '../../src/services/count-limits.ts';
import { root } from '../setup/process.ts';

const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');

/** The rows of the first table below a heading of docs/configuration.md, cell by cell. */
const rowsBelow = (heading: string): string[][] => {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | '));
};

test('docs/configuration.md has a row for every variable that the service reads, and for no other', () => {
  const documented = ['Address and proxy', 'Data and secrets', 'Protection', 'Operation']
    .flatMap(rowsBelow)
    .flatMap(([names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  expect(documented.toSorted()).toEqual([...variableNames].sort());
});

test.each([
  ['Rate limits', rateLimitDefaults],
  ['Count limits', countLimitDefaults],
])('docs/configuration.md has every name of "%s" with its default', (heading, defaults) => {
  const rows = rowsBelow(heading).map(([name = '', limit = '']) => [
    name.replaceAll('`', ''),
    Number(limit.replaceAll(',', '')),
  ]);
  expect(Object.fromEntries(rows)).toEqual(defaults);
});
