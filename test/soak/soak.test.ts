import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { root } from '../setup/process.ts';
import { Counts } from './counts.ts';
import { growthOf } from './flat.ts';
import { Model, type ModelLicense, verdictOf } from './model.ts';

const megabyte = 2 ** 20;
const samples = (heap: (minute: number) => number) =>
  Array.from({ length: 30 }, (_, minutes) => ({ minutes, heapUsed: heap(minutes) * megabyte }));

describe('memory', () => {
  test('is flat where it fills caches at first and varies then', () => {
    const heap = (minute: number) => 60 + 40 * Math.min(1, minute / 9) + 3 * Math.sin(minute);
    expect(growthOf(samples(heap)).isFlat).toBe(true);
  });

  test('is not where it grows a little each minute', () => {
    const growth = growthOf(samples((minute) => 100 + minute));
    expect(growth.perMinute / megabyte).toBeCloseTo(1);
    expect(growth.isFlat).toBe(false);
  });

  test('of one look is flat', () => {
    expect(growthOf([{ minutes: 0.1, heapUsed: megabyte }]).isFlat).toBe(true);
  });
});

test('a wrong verdict and a failure are counted apart, and told', () => {
  const counts = new Counts();
  counts.expect('validate', 'OK', 'OK');
  counts.expect('validate', 'BANNED', 'OK');
  counts.expect('read', 'HTTP 500', 'OK');
  expect(counts).toMatchObject({ requests: 3, wrongVerdicts: 1, unexpected: 1 });
  expect(counts.wrong).toHaveLength(2);
});

test('the model says what each license has to answer, and gives it into one hand', () => {
  const license: ModelLicense = {
    id: 'a',
    licenseKey: 'key',
    tier: 0,
    hwid: null,
    state: 'active',
    user: null,
  };
  expect(verdictOf(license, 'laptop')).toBe('OK');
  license.hwid = 'laptop';
  expect(verdictOf(license, 'other')).toBe('HWID_MISMATCH');
  license.state = 'banned';
  expect(verdictOf(license, 'laptop')).toBe('BANNED');
  license.state = 'deleted';
  expect(verdictOf(license, 'laptop')).toBe('LICENSE_NOT_FOUND');
  const model = new Model();
  model.giveBack({ ...license, state: 'active' });
  expect(model.take(() => true)).not.toBeNull();
  expect(model.take(() => true)).toBeNull();
});

const report = z.object({
  requests: z.number(),
  wrongVerdicts: z.number(),
  unexpected: z.number(),
  followed: z.number().positive(),
  looks: z.array(z.unknown()).min(5),
  peakRss: z.number().positive(),
  refusals: z.record(z.string(), z.number()),
  faults: z.array(z.string()),
});

test('a short soak finds every verdict right, memory flat and no transaction that idles', {
  tags: 'slow',
  timeout: 180_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-soak-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'soak.json');
  const server = process.env.TEST_DATABASE_URL;
  const args = [
    '--minutes',
    '0.3',
    '--rate',
    '40',
    '--json',
    file,
    ...(server ? ['--database-url', server] : []),
  ];
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/soak/main.ts', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await once(child, 'close');
  expect(child.exitCode, output).toBe(0);
  const found = report.parse(JSON.parse(await readFile(file, 'utf8')));
  expect(found.faults).toEqual([]);
  expect(found.requests).toBeGreaterThan(20);
  expect(Object.keys(found.refusals)).toEqual(expect.arrayContaining(['HWID_MISMATCH', 'LICENSE_NOT_FOUND']));
});
