/** @module-tag slow */
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { prepareEmbedded } from '../../src/tools/prepare-embedded.ts';
import { ensureTemplate } from '../setup/database.ts';
import { root, startServiceProcess } from '../setup/process.ts';

/** The user `nobody`, who owns no files. */
const userId = 65_534;
const isSuperuser = process.getuid?.() === 0;
if (!isSuperuser)
  process.stderr.write('Skipped: starts by another user (only the superuser may try them).\n');
const slow = 240_000;
const run = promisify(execFile);

beforeAll(async () => {
  await ensureTemplate();
  // An existing one may be from a version that did not make it readable for other users.
  await prepareEmbedded();
});

async function newDirectory(owner?: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-user-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (owner === undefined) await chmod(directory, 0o755);
  else await chown(directory, owner, owner);
  return directory;
}

/** A copy of the installation for this test. */
async function install(): Promise<string> {
  const installation = await newDirectory();
  for (const name of ['dist', 'prisma', 'src', 'package.json', 'tsconfig.json']) {
    await cp(join(root, name), join(installation, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(installation, 'node_modules'));
  return installation;
}

const templateOf = async (installation: string): Promise<string> => {
  const templates = join(installation, 'dist/embedded');
  const [name] = (await readdir(templates)).filter((each) => /^[0-9a-f]{16}$/.test(each));
  return join(templates, name ?? '');
};

/** A system user without a home. */
const envOf = (directory: string) => ({ DATA_DIR: directory, HOME: '/nonexistent' });
const failureOf = async (env: Readonly<Record<string, string>>) =>
  startServiceProcess(env, { userId }).then(String, String);

test.skipIf(!isSuperuser)(
  'the service starts for a user who did not install it, from a read-only installation',
  async () => {
    const installation = await install();
    await run('chmod', ['-R', 'a-w', join(installation, 'dist')]);
    const directory = await newDirectory(userId);
    for (const _ of ['first', 'second']) {
      const service = await startServiceProcess(envOf(directory), { userId, installation });
      expect(service.output()).not.toMatch(/prepared database/);
      expect(await service.stop()).toBe(0);
    }
    expect((await stat(join(directory, 'postgres'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'postgres/PG_VERSION'))).mode & 0o777).toBe(0o600);
  },
  slow,
);

test.skipIf(!isSuperuser)(
  'the service creates its database without the prepared one if it cannot read that, and logs it',
  async () => {
    const installation = await install();
    await chmod(join(await templateOf(installation), 'data'), 0o700);
    const service = await startServiceProcess(envOf(await newDirectory(userId)), { userId, installation });
    expect(service.output()).toMatch(/cannot read the prepared database in \S+dist\/embedded/);
    expect(await service.stop()).toBe(0);
  },
  slow,
);

test.skipIf(!isSuperuser)(
  'the prepared database is readable for every user, whatever the umask',
  async () => {
    const installation = await install();
    await rm(join(installation, 'dist/embedded'), { recursive: true });
    const command = `umask 077; exec "$0" --import tsx src/tools/prepare-embedded.ts`;
    await run('sh', ['-c', command, process.execPath], { cwd: installation });
    const template = await templateOf(installation);
    for (const path of [join(installation, 'dist/embedded'), template, join(template, 'data/base')]) {
      expect((await stat(path)).mode & 0o777, path).toBe(0o755);
    }
    for (const name of ['data.tar', 'data/PG_VERSION', 'data/global/pg_control']) {
      expect((await stat(join(template, name))).mode & 0o777, name).toBe(0o644);
    }
  },
  slow,
);

test.skipIf(!isSuperuser)(
  'a directory that this user may not write to is named in the error',
  async () => {
    const parent = await newDirectory();
    const notThere = await failureOf(envOf(join(parent, 'a', 'data')));
    expect(notThere).toContain(
      `Give this user (uid ${userId}) read and write access to ${parent}, or set DATA_DIR.`,
    );

    const anothers = await newDirectory(userId);
    await mkdir(join(anothers, 'postgres'), { mode: 0o700 });
    const within = await failureOf(envOf(anothers));
    expect(within).toContain(
      `Give this user (uid ${userId}) read and write access to ${join(anothers, 'postgres')}, or`,
    );

    const temporary = await failureOf({ ...envOf(await newDirectory(userId)), TMPDIR: parent });
    expect(temporary).toContain(`The directory for temporary files, ${parent}, cannot be used: EACCES`);
  },
  slow,
);

test.skipIf(!isSuperuser)(
  'root does not change the database of another user, whose service would then fail to start',
  async () => {
    const directory = await newDirectory(userId);
    await (await startServiceProcess(envOf(directory), { userId })).stop();
    const refusal = await startServiceProcess(envOf(directory)).then(String, String);
    expect(refusal).toContain(`belongs to the user with uid ${userId}`);
    expect(refusal).toContain(`sudo -u '#${userId}'`);
    await (await startServiceProcess(envOf(directory), { userId })).stop();
  },
  slow,
);
