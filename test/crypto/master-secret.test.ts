import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadOrCreateMasterSecret, MasterSecretError } from '../../src/crypto/master-secret.ts';

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-secret-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const fileIn = (directory: string) => join(directory, 'service-secret');

describe('the master secret', () => {
  test('is made on the first start: 32 random bytes, readable by the owner alone', async () => {
    const [first, second] = [await freshDirectory(), await freshDirectory()];
    const secret = loadOrCreateMasterSecret(first);
    expect(secret).toHaveLength(32);
    expect(loadOrCreateMasterSecret(second)).not.toEqual(secret);
    expect((await stat(fileIn(first))).mode & 0o777).toBe(0o600);
    expect(await readFile(fileIn(first), 'utf8')).toBe(`${Buffer.from(secret).toString('base64')}\n`);
    expect(await readdir(first)).toEqual(['service-secret']);
  });

  test('is the same on every later start, and the file is left as it was', async () => {
    const directory = await freshDirectory();
    const secret = loadOrCreateMasterSecret(directory);
    const before = await stat(fileIn(directory));
    expect(loadOrCreateMasterSecret(directory)).toEqual(secret);
    expect((await stat(fileIn(directory))).ino).toBe(before.ino);
    expect(await readdir(directory)).toEqual(['service-secret']);
  });

  test('may have been restored without its last line end', async () => {
    const directory = await freshDirectory();
    const secret = Buffer.alloc(32, 9);
    await writeFile(fileIn(directory), secret.toString('base64'));
    expect(loadOrCreateMasterSecret(directory)).toEqual(new Uint8Array(secret));
  });

  test.each([
    ['is empty', ''],
    ['was cut', Buffer.alloc(32, 9).toString('base64').slice(0, -4)],
    ['holds 31 bytes', Buffer.alloc(31, 9).toString('base64')],
    ['holds 33 bytes', Buffer.alloc(33, 9).toString('base64')],
    ['holds no base64', 'this is not the secret you are looking for!'],
    [
      'holds two secrets',
      `${Buffer.alloc(32, 9).toString('base64')}\n${Buffer.alloc(32, 8).toString('base64')}`,
    ],
  ])('is refused, and not replaced, where its file %s', async (_what, content) => {
    const directory = await freshDirectory();
    await writeFile(fileIn(directory), content);
    expect(() => loadOrCreateMasterSecret(directory)).toThrow(MasterSecretError);
    expect(await readFile(fileIn(directory), 'utf8')).toBe(content);
  });

  test('is named by its file and never quoted in the refusal', async () => {
    const directory = await freshDirectory();
    const content = Buffer.alloc(31, 9).toString('base64');
    await writeFile(fileIn(directory), content);
    const load = () => loadOrCreateMasterSecret(directory);
    expect(load).toThrow(fileIn(directory));
    expect(load).toThrow(/Restore it from a backup/);
    expect(load).not.toThrow(content);
  });

  test('that cannot be read is an error, not another secret', async () => {
    const directory = await freshDirectory();
    await writeFile(fileIn(directory), Buffer.alloc(32, 9).toString('base64'));
    await chmod(fileIn(directory), 0);
    // The superuser reads everything.
    if (process.getuid?.() !== 0) expect(() => loadOrCreateMasterSecret(directory)).toThrow(/EACCES/);
    expect((await stat(fileIn(directory))).size).toBe(44);
  });

  test('is one for processes that start at the same time', async () => {
    const directory = await freshDirectory();
    const module = new URL('../../src/crypto/master-secret.ts', import.meta.url).href;
    const program = `
      import { loadOrCreateMasterSecret } from ${JSON.stringify(module)};
      process.stdout.write('ready\\n');
      process.stdin.once('data', () => {
        process.stdout.write(Buffer.from(loadOrCreateMasterSecret(${JSON.stringify(directory)})).toString('hex'));
        process.exit(0);
      });`;
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const children = Array.from({ length: 4 }, () => {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
        cwd: root,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const state = { child, output: '', ended: once(child, 'close'), ready: once(child.stdout, 'data') };
      child.stdout.on('data', (chunk: Buffer) => {
        state.output += chunk.toString();
      });
      return state;
    });
    await Promise.all(children.map(({ ready }) => ready));
    for (const { child } of children) child.stdin.write('go\n');
    await Promise.all(children.map(({ ended }) => ended));
    const secrets = children.map(({ output }) => output.replace('ready\n', ''));
    expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(secrets).size).toBe(1);
    expect(await readdir(directory)).toEqual(['service-secret']);
  });
});
