import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { appId, type StandIn } from './stand-in.ts';

const valid = { kind: 'verdict', valid: true };

/** A program's environment with an empty state folder. */
async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-state-'));
  vi.stubEnv('XDG_STATE_HOME', folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  return folder;
}
/** What `node:os` is for a user without an entry in the system's list of users. */
const noHome = {
  homedir: () => {
    throw new Error('ENOENT: no such file or directory, uv_os_homedir');
  },
};
const withDefaultStore = ({ options: { store: _, ...options } }: StandIn) => options;

describe.skipIf(process.platform === 'win32' || process.platform === 'darwin')('without a store', () => {
  test('a program in Node.js keeps files that only its user can read', async ({ server }) => {
    const folder = await stateFolder();
    await createClient(withDefaultStore(server)).validate('K');
    const own = join(folder, 'latchkey', appId);
    expect(await readdir(own)).toEqual(['keys']);
    expect((await stat(join(own, 'keys'))).mode & 0o777).toBe(0o600);
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    await createClient(withDefaultStore(server)).validate('K');
    expect(server.keysAsked).toBe(1);
  });

  test('a damaged, oversized or unreadable file is replaced', async ({ server }) => {
    const own = join(await stateFolder(), 'latchkey', appId);
    const file = join(own, 'keys');
    await mkdir(own, { recursive: true });
    for (const text of ['', 'rubbish', 'A'.repeat(2_000_000)]) {
      await writeFile(file, text);
      expect(await createClient(withDefaultStore(server)).validate('K')).toMatchObject(valid);
      expect(await readFile(file, 'utf8')).toHaveLength(164);
    }
  });

  test.for(['', undefined])(
    'a program of a user whose home is %j keeps nothing',
    async (home, { server }) => {
      vi.stubEnv('XDG_STATE_HOME', undefined);
      vi.stubEnv('HOME', home);
      onTestFinished(() => void vi.unstubAllEnvs());
      const module: unknown = home === '' ? null : noHome;
      const original = process.getBuiltinModule;
      const spy = vi.spyOn(process, 'getBuiltinModule');
      spy.mockImplementation((name: string) =>
        name === 'node:os' && module !== null ? Object(module) : original(name),
      );
      onTestFinished(() => spy.mockRestore());
      for (let run = 1; run <= 2; run += 1) {
        expect(await createClient(withDefaultStore(server)).validate('K')).toMatchObject(valid);
        expect(server.keysAsked).toBe(run);
      }
    },
  );

  test('a folder that cannot be written costs a round trip a run', async ({ server }) => {
    const folder = await stateFolder();
    await writeFile(join(folder, 'latchkey'), 'a file where the folder would be');
    const client = createClient(withDefaultStore(server));
    for (let turn = 0; turn < 2; turn += 1) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test('two programs that write at once leave one whole file', async ({ server }) => {
    const folder = await stateFolder();
    const clients = Array.from({ length: 8 }, () => createClient(withDefaultStore(server)));
    await Promise.all(clients.map((client) => client.validate('K')));
    const own = join(folder, 'latchkey', appId);
    expect(await readdir(own)).toEqual(['keys']);
    expect(await readFile(join(own, 'keys'), 'utf8')).toHaveLength(164);
  });
});
