import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HeldLock, LockLostError } from '../../src/db/embedded/held-lock.ts';
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
  const lock = await takeLock(directory, '', { watchMilliseconds: 1_500, graceMilliseconds: 500 });
  undo.push(lock.release);
}

const me = thisProcess('');
const elsewhere = { ...me, place: 'another-container boot pid:[1]' };
/** Above the maximum pid of Linux, so that no process has it. */
const noPid = 2 ** 30;

describe('the owner of a lock', () => {
  it('is alive while its process runs', () => {
    expect(lifeOf(me)).toBe('alive');
    expect(lifeOf({ ...me, pid: process.ppid, startTime: null })).toBe('alive');
  });

  it.skipIf(process.platform !== 'linux')('is recognized under any host name', () => {
    const renamed = { ...me, place: me.place.replace(/^\S+/, 'renamed') };
    expect(lifeOf(renamed)).toBe('alive');
    expect(lifeOf({ ...renamed, pid: noPid })).toBe('dead');
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

  it('is unknown from another machine, boot or container', () => {
    expect(lifeOf({ ...elsewhere, pid: noPid })).toBe('unknown');
  });
});

describe('a lock', () => {
  it('is refused and not changed while its owner is alive', async () => {
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

  it('goes to exactly one of many processes that find it stale at the same time', async () => {
    const directory = await directoryWith({ ...me, pid: noPid });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => take(directory)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('of another container is refused while its file is touched, and taken over afterwards', async () => {
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

  it('that is unreadable is taken over only if nothing touches it', async () => {
    const directory = await directoryWith('');
    await take(directory);
    expect(await readdir(directory)).toEqual(['postgres.lock.8']);
  });

  it('of another container is not used before the grace period ends, even if the first process that takes over is killed', async () => {
    const directory = await directoryWith(elsewhere);
    await writeFile(join(directory, 'postgres.lock-grace'), '');
    await rm(join(directory, 'postgres.lock.7'));
    const from = performance.now();
    await take(directory);
    expect(performance.now() - from).toBeGreaterThanOrEqual(499);
    expect(await readdir(directory)).toEqual(['postgres.lock.1']);
  });

  it('of another container is waited for, with one message for the activity check and one for the grace period', async () => {
    const directory = await directoryWith({ ...elsewhere, pid: 4711 });
    const said: string[] = [];
    const onWait = (message: string) => said.push(message);
    const lock = await takeLock(directory, '', { watchMilliseconds: 500, graceMilliseconds: 250, onWait });
    undo.push(lock.release);
    expect(said).toEqual([
      expect.stringMatching(/is locked by process 4711 \(another-container\).*watching for 0\.5 s/),
      expect.stringMatching(/taking it over in 0\.25 s/),
    ]);
  });

  it('that another process takes over is reported to its holder, which does not remove the new one', async () => {
    const directory = await directoryWith();
    const told: Error[] = [];
    const lock = await takeLock(directory, '', { onLost: (error) => told.push(error) });
    lock.assertHeld();
    // The steps of a takeover, which may use the same number.
    await rm(join(directory, 'postgres.lock.1'));
    expect(() => lock.assertHeld()).toThrow(/removed by hand/);
    await writeFile(join(directory, 'postgres.lock.1'), JSON.stringify(elsewhere));
    expect(() => lock.assertHeld()).toThrow(LockLostError);
    await writeFile(join(directory, 'postgres.lock.2'), JSON.stringify(elsewhere));
    expect(() => lock.assertHeld()).toThrow(/Another process has taken over/);
    await expect.poll(() => told, { timeout: 20_000 }).toHaveLength(1);
    await lock.release();
    expect(await readdir(directory)).toEqual(['postgres.lock.1', 'postgres.lock.2']);
  });

  it('is checked again when either clock shows that the last beat is too old', async () => {
    const directory = await directoryWith();
    const lock = await takeLock(directory, '');
    undo.push(lock.release);
    const { ticket } = lock;
    const held = new HeldLock(ticket);
    held.beat();
    await rm(ticket.path);
    expect(() => held.assertLease()).not.toThrow();
    Atomics.sub(ticket.lease, 0, 5_000_000_000n);
    expect(() => held.assertLease()).toThrow(LockLostError);
    Atomics.add(ticket.lease, 0, 5_000_000_000n);
    for (const step of [-5_000n, 3_600_000n]) {
      Atomics.add(ticket.lease, 1, step);
      expect(() => held.assertLease()).toThrow(LockLostError);
      Atomics.sub(ticket.lease, 1, step);
    }
  });

  it('can be taken again after its release', async () => {
    const directory = await directoryWith();
    const first = await takeLock(directory, '');
    await expect(take(directory)).rejects.toMatchObject({ problem: 'locked' });
    await first.release();
    expect(await readdir(directory)).toEqual([]);
    await take(directory);
  });
});
