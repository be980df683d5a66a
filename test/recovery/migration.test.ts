/** @module-tag slow */
import { spawn } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { startServiceProcess } from '../setup/process.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';
import { type Installation, install, installationKinds, killWhileStarting } from './installation.ts';

const patient = { timeout: 90_000, interval: 50 };

const migration = (name: string, sql: string): Migration => ({
  name,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
});

/** The second migration is slow, so that it is killed between its two tables. */
const further = [
  migration('29990101000000_make_a', 'CREATE TABLE a (id INT);'),
  migration('29990102000000_make_b', 'CREATE TABLE b (id INT); SELECT pg_sleep(5); CREATE TABLE c (id INT);'),
];

function startMigrator(kind: string, { env }: Installation) {
  const program = fileURLToPath(new URL('fixtures/migrator.ts', import.meta.url));
  const address = env.DATABASE_URL ?? env.DATA_DIR ?? '';
  const tsx = import.meta.resolve('tsx');
  const child = spawn(process.execPath, ['--import', tsx, program, kind, address, JSON.stringify(further)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = once(child, 'close');
  return { child, ended, output: () => output };
}

const history = ({ read }: Installation) =>
  read((query) =>
    query<{ name: string; finished: boolean }>(
      `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations
       WHERE rolled_back_at IS NULL ORDER BY migration_name`,
    ),
  );
const everyMigration = async () => (await readMigrations()).map(({ name }) => ({ name, finished: true }));

test.each(installationKinds)(
  'a migration that was killed half way is rolled back and applied by the next start (%s)',
  async (kind) => {
    const installation = await install(kind);
    onTestFinished(installation.remove);
    const first = startMigrator(kind, installation);
    await vi.waitFor(() => expect(first.output()).toContain('make_a'), patient);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(first.output()).not.toContain('make_b');

    const second = startMigrator(kind, installation);
    await second.ended;
    expect(second.child.exitCode, second.output()).toBe(0);
    expect(second.output()).not.toContain('make_a');
    expect(second.output()).toContain('make_b');
    const later = further.map(({ name }) => ({ name, finished: true }));
    expect(await history(installation)).toEqual([...(await everyMigration()), ...later]);
    tally({ faults: 1 });
  },
  240_000,
);

test.each(installationKinds)(
  'first starts that are killed at random moments leave a state that the next start completes (%s)',
  async (kind) => {
    const installation = await install(kind);
    onTestFinished(installation.remove);
    for (const longest of [600, 1_200, 2_400]) await killWhileStarting(installation.env, randomInt(longest));
    const service = await startServiceProcess(installation.env);
    await (await createWorld({ baseUrl: service.url })).createApplication();
    expect(await service.stop()).toBe(0);
    expect(await history(installation)).toEqual(await everyMigration());
    tally({ faults: 3 });
  },
  240_000,
);

test.skipIf(!installationKinds.includes('server'))(
  'processes that start at the same time on an empty database migrate it once, and all of them serve',
  async () => {
    const installation = await install('server');
    onTestFinished(installation.remove);
    const services = await Promise.all([1, 2, 3].map(() => startServiceProcess(installation.env)));
    for (const service of services) await createWorld({ baseUrl: service.url });
    const applied = services.map((service) => service.output().match(/Applied a migration/g)?.length ?? 0);
    for (const service of services) expect(await service.stop()).toBe(0);
    const every = await everyMigration();
    expect(applied.reduce((sum, count) => sum + count, 0)).toBe(every.length);
    expect(await history(installation)).toEqual(every);
    tally({ faults: 1 });
  },
  240_000,
);
