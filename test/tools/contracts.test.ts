import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Contract } from '../../src/tools/contracts/contract.ts';
import { compareOperations } from '../../src/tools/contracts/openapi-changes.ts';
import { refuseBreaking, reportDrift } from '../../src/tools/contracts/report.ts';
import { compareSchemas } from '../../src/tools/contracts/schema-changes.ts';

const small = `
type Query {
  "Finds one."
  license(id: ID!, filter: Filter): License
}

type License {
  id: ID!
  key: String
  status: Status!
}

enum Status {
  ACTIVE
  BANNED
}

input Filter {
  tier: Int
}
`;

const contract = (text: string): Contract => ({
  path: 'schema.graphql',
  text,
  compare: compareSchemas,
  guarded: true,
});

const edit = (text: string, part: string, other: string): string => {
  expect(text).toContain(part);
  return text.replace(part, other);
};

describe('a change of the schema', () => {
  test.each([
    ['a field renamed', 'key: String', 'licenseKey: String', 'breaking', /'key' was removed/],
    [
      'a field renamed, the new one',
      'key: String',
      'licenseKey: String',
      'not breaking',
      /'licenseKey' was added/,
    ],
    ['a field that can be null now', 'id: ID!\n  key', 'id: ID\n  key', 'breaking', /License\.id/],
    ['an argument that must be given now', 'filter: Filter)', 'filter: Filter!)', 'breaking', /filter/],
    ['an input field that must be given now', 'tier: Int', 'tier: Int!', 'breaking', /Filter\.tier/],
    ['an enum value gone', '  BANNED\n', '', 'breaking', /BANNED/],
    ['an enum value more', '  BANNED', '  BANNED\n  EXPIRED', 'dangerous', /EXPIRED/],
    ['an optional argument more', 'filter: Filter)', 'filter: Filter, q: String)', 'dangerous', /q: String/],
    ['a field more', 'key: String', 'key: String\n  note: String', 'not breaking', /'note' was added/],
    ['another description', 'Finds one.', 'Finds a license.', 'not breaking', /Finds a license/],
  ])('%s is named, and for what it is', async (_what, part, other, severity, message) => {
    const changes = await compareSchemas(small, edit(small, part, other));
    expect(changes).toContainEqual({ severity, message: expect.stringMatching(message) });
    for (const change of changes) expect(change.message).not.toContain('\n');
  });

  test('without an effect is not listed', async () => {
    expect(await compareSchemas(small, `${small}\n# A comment.`)).toEqual([]);
  });
});

describe('checking', () => {
  test('passes committed contracts that match the code', async () => {
    expect(await reportDrift(contract(small), small)).toBeNull();
  });

  test('lists one line per change by severity, with advice', async () => {
    const text = edit(edit(small, 'key: String', 'licenseKey: String'), '  BANNED', '  BANNED\n  EXPIRED');
    const report = await reportDrift(contract(text), small);
    const lines = (report ?? '').split('\n');
    expect(lines[0]).toBe('schema.graphql does not match the code.');
    expect(lines.slice(1, 4).map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['breaking', "Field 'key' was removed from object type 'License'"],
      ['dangerous', "Enum value 'EXPIRED' was added to enum 'Status'"],
      ['not breaking', expect.stringContaining("'licenseKey' was added")],
    ]);
    expect(report).toContain('npm run contracts -- --allow-breaking');
  });

  test('does not mention --allow-breaking if nothing breaks', async () => {
    const report = await reportDrift(contract(edit(small, 'Finds one.', 'Finds a license.')), small);
    expect(report).toContain('not breaking');
    expect(report).not.toContain('--allow-breaking');
    expect(report).toContain('run: npm run contracts');
  });

  test.each([
    ['with a comment more', `# By hand.\n${small}`, '  committed: # By hand.'],
    ['with a line more at its end', `${small}# By hand.\n`, '  committed: # By hand.'],
    ['that is missing', '', '  committed: '],
    ['half merged', `<<<<<<< ours\n${small}`, '  committed: <<<<<<< ours'],
  ])('fails a file %s, by the first line that differs', async (_what, committed, line) => {
    expect(await reportDrift(contract(small), committed)).toContain(line);
  });

  test('of the real schema lists an accidentally renamed field', async () => {
    const committed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
    const report = await reportDrift(contract(edit(committed, '  keyPrefix: ', '  prefix: ')), committed);
    expect(report).toMatch(/^ {2}breaking {2,}Field 'keyPrefix' was removed/m);
  });
});

describe('writing', () => {
  const breaking = edit(small, 'key: String', 'licenseKey: String');

  test('is refused for breaking changes, and lists only these', async () => {
    const refusal = await refuseBreaking(contract(breaking), small);
    expect(refusal).toContain("Field 'key' was removed");
    expect(refusal).not.toContain('licenseKey');
    expect(refusal).toContain('npm run contracts -- --allow-breaking');
  });

  test('is refused if the committed file is unreadable', async () => {
    expect(await refuseBreaking(contract(small), `<<<<<<< ours\n${small}`)).toContain('cannot be read');
  });

  test.each([
    ['what is the same', small, small],
    ['a first one', small, ''],
    ['one with more in it', edit(small, 'key: String', 'key: String\n  note: String'), small],
    ['one with an enum value more', edit(small, '  BANNED', '  BANNED\n  EXPIRED'), small],
  ])('is free for %s', async (_what, text, committed) => {
    expect(await refuseBreaking(contract(text), committed)).toBeNull();
  });

  test('is always allowed for an unguarded contract', async () => {
    expect(await refuseBreaking({ ...contract(breaking), guarded: false }, small)).toBeNull();
  });
});

describe('a change of the REST interface', () => {
  const openApi = (...paths: string[]) =>
    JSON.stringify({ paths: Object.fromEntries(paths.map((path) => [path, { get: {}, parameters: [] }])) });

  test('lists removed and new operations', async () => {
    expect(await compareOperations(openApi('/apps', '/me'), openApi('/apps', '/whoami'))).toEqual([
      { severity: 'breaking', message: 'Operation GET /me was removed' },
      { severity: 'not breaking', message: 'Operation GET /whoami was added' },
    ]);
  });
});
