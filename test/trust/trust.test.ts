import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseOptions as parseNodes, supportedMajors } from '../nodes/options.ts';
import { run } from '../setup/run.ts';
import { findingsOf, readTally } from './findings.ts';
import { parseOptions } from './options.ts';

async function tallied(...lines: unknown[]) {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-tally-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'tally');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return readTally(file);
}

test('what tests have counted is added up, and of times the longest is told', async () => {
  const tally = await tallied(
    { counted: { kills: 3, acknowledged: 10, lost: 0 }, most: { recovery: 900 } },
    { counted: { kills: 4, acknowledged: 1_000, lost: 0 }, most: { recovery: 700 } },
  );
  expect(findingsOf(tally)).toEqual([
    { what: 'kill -9 at random moments under load', value: '7', isBad: false },
    { what: 'writes acknowledged meanwhile', value: '1,010', isBad: false },
    { what: 'of these lost or half done', value: '0', isBad: false },
    { what: 'longest recovery', value: '900', isBad: false },
  ]);
});

test('one lost write is bad, a recovery that takes longer than is promised too, and nothing counted is no finding', async () => {
  const lost = findingsOf(await tallied({ counted: { lost: 1 }, most: {} }));
  expect(lost).toEqual([{ what: 'of these lost or half done', value: '1', isBad: true }]);
  const late = findingsOf(await tallied({ counted: {}, most: { 'recovery after a kill, ms': 5_001 } }));
  expect(late).toEqual([{ what: 'longest recovery after a kill, ms', value: '5,001', isBad: true }]);
  expect(findingsOf(readTally(join(tmpdir(), 'there-is-no-such-tally')))).toEqual([]);
});

test('every input of a property counts, whether it answers at once or later', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-tally-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'tally');
  const { code, output } = await run(
    'npx',
    [
      'vitest',
      'run',
      'test/attack/fuzz-parsers.test.ts',
      '-t',
      '^only a signed cookie|^a cursor is the only',
    ],
    { cwd: process.cwd(), env: { ...process.env, FUZZ_RUNS: '7', TRUST_TALLY: file } },
  );
  expect(code, output).toBe(0);
  expect(readTally(file).counted.get('inputs')).toBe(2 * 7);
});

test('the command lines are read', () => {
  expect(parseOptions(['--only', 'kills'])).toMatchObject({ only: ['kills'], extent: { kills: 100 } });
  expect(parseOptions(['--quick', '--soak-minutes', '2.5', '--fuzz-runs', '50'])).toMatchObject({
    only: [],
    extent: { kills: 6, soakMinutes: 2.5, fuzzRuns: 50 },
  });
  expect(parseOptions(['--help'])).toBeNull();
  expect(() => parseOptions(['--fast'])).toThrow(/--fast/);
  expect(() => parseOptions(['--kills', '0'])).toThrow(/--kills must be a whole number of at least 1/);
  expect(() => parseOptions(['--kills', 'many'])).toThrow(/--kills must be a whole number of at least 1/);
  expect(parseNodes([])).toEqual({ majors: supportedMajors, vitest: [] });
  expect(parseNodes(['22', '26', '--', 'test/protocol'])).toEqual({
    majors: [22, 26],
    vitest: ['test/protocol'],
  });
  expect(parseNodes(['--project', 'parts'])).toEqual({
    majors: supportedMajors,
    vitest: ['--project', 'parts'],
  });
});
