import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createMasterSecret,
  environmentSecrets,
  foreignOwnerOf,
  forgetPreviousSecrets,
  MasterSecretError,
  readStoredSecrets,
  replaceMasterSecret,
  storedSecrets,
} from '../../src/crypto/master-secret.ts';

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-secret-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const nobody = 65_534;
const fileIn = (directory: string) => join(directory, 'service-secret');
const previousIn = (directory: string) => join(directory, 'service-secret.previous');
const write = (path: string, text: string) => writeFile(path, text, { mode: 0o600 });
const encoded = (byte: number, length = 32) => Buffer.alloc(length, byte).toString('base64');
const noon = Date.parse('2026-03-01T12:00:00Z');
const day = 86_400_000;

describe('the master secret', () => {
  test('is 32 random bytes that only the owner can read', async () => {
    const [first, second] = [await freshDirectory(), await freshDirectory()];
    expect(readStoredSecrets(first)).toBeNull();
    for (const directory of [first, second]) createMasterSecret(directory);
    const { current, previous } = readStoredSecrets(first) ?? expect.fail('there is none');
    expect(current).toHaveLength(32);
    expect(previous).toEqual([]);
    expect(readStoredSecrets(second)?.current).not.toEqual(current);
    expect((await stat(fileIn(first))).mode & 0o777).toBe(0o600);
    expect(await readFile(fileIn(first), 'utf8')).toBe(`${Buffer.from(current).toString('base64')}\n`);
    expect(await readdir(first)).toEqual(['service-secret']);
  });

  test('never replaces an existing one', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    const before = readStoredSecrets(directory);
    createMasterSecret(directory);
    expect(readStoredSecrets(directory)).toEqual(before);
    expect(await readdir(directory)).toEqual(['service-secret']);
  });

  test('may lack the last line feed', async () => {
    const directory = await freshDirectory();
    await write(fileIn(directory), encoded(9));
    expect(readStoredSecrets(directory)?.current).toEqual(new Uint8Array(32).fill(9));
  });

  test.each([
    ['is empty', ''],
    ['was cut', encoded(9).slice(0, -4)],
    ['holds 31 bytes', encoded(9, 31)],
    ['holds 33 bytes', encoded(9, 33)],
    ['holds no base64', 'this is not the secret you are looking for!'],
    ['holds zero bytes, as after a crash of the machine', '\0'.repeat(45)],
    ['holds two secrets', `${encoded(9)}\n${encoded(8)}`],
  ])('is refused, and not replaced, where its file %s', async (_what, content) => {
    const directory = await freshDirectory();
    await write(fileIn(directory), content);
    expect(() => readStoredSecrets(directory)).toThrow(MasterSecretError);
    expect(() => readStoredSecrets(directory)).toThrow(/Restore it from a backup/);
    expect(() => readStoredSecrets(directory)).toThrow(fileIn(directory));
    expect(() => replaceMasterSecret(directory, noon)).toThrow(MasterSecretError);
    createMasterSecret(directory);
    expect(await readFile(fileIn(directory), 'utf8')).toBe(content);
    expect(await readdir(directory)).toEqual(['service-secret']);
  });

  test('is never quoted in an error', async () => {
    const directory = await freshDirectory();
    await write(fileIn(directory), encoded(9, 31));
    expect(() => readStoredSecrets(directory)).not.toThrow(encoded(9, 31));
  });

  test.each([0o644, 0o640, 0o602, 0o610])(
    'is refused if other users have access to its file: mode %o',
    async (mode) => {
      const directory = await freshDirectory();
      createMasterSecret(directory);
      await chmod(fileIn(directory), mode);
      expect(() => readStoredSecrets(directory)).toThrow(/chmod 600 .*rotate-secret/);
      await chmod(fileIn(directory), 0o400);
      expect(readStoredSecrets(directory)?.current).toHaveLength(32);
    },
  );

  test('that is unreadable is an error, and not replaced', async () => {
    const directory = await freshDirectory();
    await mkdir(fileIn(directory), { mode: 0o700 });
    expect(() => readStoredSecrets(directory)).toThrow(/cannot be read \(EISDIR.*has not been replaced/);
  });

  test('is reported as missing if previous secrets exist', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    replaceMasterSecret(directory, noon);
    await rm(fileIn(directory));
    expect(() => readStoredSecrets(directory)).toThrow(/service-secret is missing.*Restore it/);
  });
});

describe('a replaced master secret', () => {
  test('is kept with its time in a file that only the owner can read', async () => {
    const directory = await freshDirectory();
    await write(fileIn(directory), encoded(9));
    replaceMasterSecret(directory, noon);
    const stored = readStoredSecrets(directory) ?? expect.fail('there is none');
    expect(stored.current).not.toEqual(new Uint8Array(32).fill(9));
    expect(stored.previous).toEqual([{ secret: new Uint8Array(32).fill(9), replacedAt: noon }]);
    expect(await readFile(previousIn(directory), 'utf8')).toBe(`${encoded(9)} 2026-03-01T12:00:00.000Z\n`);
    for (const path of [fileIn(directory), previousIn(directory)]) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(directory)).sort()).toEqual(['service-secret', 'service-secret.previous']);
  });

  test('is kept together with the next one for the seven days of a cookie', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    const times = [0, 1, 7.5, 9];
    for (const days of times) replaceMasterSecret(directory, noon + days * day);
    const left = readStoredSecrets(directory)?.previous.map(({ replacedAt }) => (replacedAt - noon) / day);
    expect(left).toEqual([9, 7.5]);
  });

  test('is not lost if the process is killed between keeping and replacing it', async () => {
    const directory = await freshDirectory();
    await write(fileIn(directory), encoded(9));
    await write(previousIn(directory), `${encoded(9)} ${new Date(noon).toISOString()}\n`);
    await write(`${fileIn(directory)}.0123456789ab`, encoded(1));
    await write(`${previousIn(directory)}.0123456789ab`, encoded(1).slice(0, 9));
    const stored = readStoredSecrets(directory) ?? expect.fail('there is none');
    expect(storedSecrets(stored, null).current).toEqual(new Uint8Array(32).fill(9));
    replaceMasterSecret(directory, noon + 5);
    expect(readStoredSecrets(directory)?.previous).toEqual([
      { secret: new Uint8Array(32).fill(9), replacedAt: noon + 5 },
    ]);
    expect((await readdir(directory)).sort()).toEqual(['service-secret', 'service-secret.previous']);
  });

  test.each([
    ['was cut', `${encoded(9)} 2026-03-01T12:00:00.000Z\n${encoded(8).slice(0, 20)}`],
    ['has no time', `${encoded(9)}\n`],
    ['holds something else', 'hello world\n'],
  ])('is refused where the file %s', async (_what, content) => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    await write(previousIn(directory), content);
    expect(() => readStoredSecrets(directory)).toThrow(/service-secret\.previous does not contain/);
    expect(() => readStoredSecrets(directory)).not.toThrow(encoded(9).slice(0, 20));
  });

  test('is deleted when it is forgotten', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    replaceMasterSecret(directory, noon);
    forgetPreviousSecrets(directory);
    expect(readStoredSecrets(directory)?.previous).toEqual([]);
    expect(await readdir(directory)).toEqual(['service-secret']);
  });
});

describe('the form of a secret', () => {
  const bytes = new Uint8Array(32).fill(9);
  const text = encoded(9);
  const secretsOf = ({ current, previous }: ReturnType<typeof environmentSecrets>) =>
    [current, ...previous.map(({ secret }) => secret)].map((secret) =>
      Buffer.from(secret).toString('latin1'),
    );

  test('in the environment is its text; data of the file form is accepted', () => {
    expect(secretsOf(environmentSecrets(text, null))).toEqual([text, Buffer.from(bytes).toString('latin1')]);
  });

  test('in a file is the decoded text; data of the environment form is accepted', () => {
    expect(secretsOf(storedSecrets({ current: bytes, previous: [] }, null))).toEqual([
      Buffer.from(bytes).toString('latin1'),
      text,
    ]);
  });

  test('has one form if the text in the environment does not decode to 32 bytes', () => {
    const words = 'a secret of at least thirty-two bytes';
    expect(secretsOf(environmentSecrets(words, null))).toEqual([words]);
    expect(secretsOf(environmentSecrets(words, words))).toEqual([words]);
    expect(secretsOf(environmentSecrets(words, `${words}!`))).toEqual([words, `${words}!`]);
  });
});

describe('the first start', () => {
  test('creates one secret, however many processes start at the same time', async () => {
    const directory = await freshDirectory();
    const module = new URL('../../src/crypto/master-secret.ts', import.meta.url).href;
    const program = `
      import { createMasterSecret, readStoredSecrets } from ${JSON.stringify(module)};
      process.stdout.write('ready\\n');
      process.stdin.once('data', () => {
        createMasterSecret(${JSON.stringify(directory)});
        process.stdout.write(Buffer.from(readStoredSecrets(${JSON.stringify(directory)}).current).toString('hex'));
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

const isSuperuser = process.getuid?.() === 0;
if (!isSuperuser)
  process.stderr.write('Skipped: a secret file of another user, which only root can create.\n');

test.skipIf(!isSuperuser)('the error for a secret file of another user names both users', async () => {
  const directory = await freshDirectory();
  createMasterSecret(directory);
  expect(foreignOwnerOf(fileIn(directory))).toBeNull();
  await chown(fileIn(directory), nobody, nobody);
  expect(foreignOwnerOf(fileIn(directory))).toBe(nobody);
  await chown(fileIn(directory), 0, 0);
  await chmod(directory, 0o755);
  process.seteuid?.(nobody);
  try {
    expect(() => readStoredSecrets(directory)).toThrow(
      new RegExp(`cannot be read.*belongs to user 0, and this process runs as user ${nobody}`),
    );
  } finally {
    process.seteuid?.(0);
  }
});
