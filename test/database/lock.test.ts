import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../src/db/embedded/lock.ts';
import { lifeOf, type Owner, thisProcess } from '../../src/db/embedded/owner.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function directoryWith(lock?: Owner | string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'test-lock-'));
  undo.push(() => rm(directory, { recursive: true, force: true }));
  const text = typeof lock === 'string' ? lock : JSON.stringify(lock);
  if (lock !== undefined) await writeFile(join(directory, 'postgres.lock.7'), text);
  return directory;
}

async function take(directory: string): Promise<void> {
  const lock = await takeLock(directory, '', 1_500);
  undo.push(lock.release);
}

const me = thisProcess('');
const elsewhere = { ...me, place: 'another-container boot pid:[1]' };
/** Above every limit of Linux, so that no process has it. */
const noPid = 2 ** 30;

describe('the owner of a lock', () => {
  it('is alive while its process runs', () => {
    expect(lifeOf(me)).toBe('alive');
    expect(lifeOf({ ...me, pid: process.ppid, startTime: null })).toBe('alive');
  });

  it('is dead when no process has its pid', () => {
    expect(lifeOf({ ...me, pid: noPid })).toBe('dead');
  });

  it.skipIf(process.platform !== 'linux')(
    'is dead when its pid belongs to a process that started later',
    () => {
      expect(lifeOf({ ...me, startTime: '1' })).toBe('dead');
    },
  );

  it('cannot be known from another machine, boot or container', () => {
    expect(lifeOf({ ...elsewhere, pid: noPid })).toBe('unknown');
  });
});

describe('a lock', () => {
  it('is refused while its owner lives, and left as it was', async () => {
    const directory = await directoryWith(me);
    await expect(take(directory)).rejects.toMatchObject({
      problem: 'locked',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(await readdir(directory)).toEqual(['postgres.lock.7']);
  });

  it('is taken over from a dead owner, under the next number', async () => {
    const directory = await directoryWith({ ...me, pid: noPid });
    await take(directory);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('goes to exactly one of many who find it stale at once', async () => {
    const directory = await directoryWith({ ...me, pid: noPid });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => take(directory)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('of another container is refused while it is touched, and taken over when it no longer is', async () => {
    const directory = await directoryWith(elsewhere);
    const path = join(directory, 'postgres.lock.7');
    let second = 1;
    const heart = setInterval(() => {
      second += 1;
      utimes(path, second, second).catch(() => undefined);
    }, 100);
    await expect(take(directory).finally(() => clearInterval(heart))).rejects.toMatchObject({
      problem: 'locked',
    });
    await take(directory);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('that cannot be read is taken over only when nothing touches it', async () => {
    const directory = await directoryWith('');
    await take(directory);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('can be taken again once it is released', async () => {
    const directory = await directoryWith();
    const first = await takeLock(directory, '');
    await expect(take(directory)).rejects.toMatchObject({ problem: 'locked' });
    await first.release();
    expect(await readdir(directory)).toEqual([]);
    await take(directory);
  });
});
