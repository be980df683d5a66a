import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { openEmbedded } from '../db/embedded/embedded.ts';
import { letAllRead } from '../db/embedded/files.ts';
import { findTemplate, type Template, templateOf, templatesDirectory } from '../db/embedded/template.ts';
import { migrate } from '../db/migrate.ts';
import { readMigrations } from '../db/migrations.ts';
import { createLogger } from '../lib/log.ts';

/**
 * Creates the database that a first start copies (see db/embedded/template.ts), unless it exists, and removes those of
 * other versions. It is renamed into place when complete, so several builds can run at the same time.
 */
export async function prepareEmbedded(): Promise<Template> {
  const migrations = await readMigrations();
  const template = templateOf(migrations);
  const root = dirname(template.directory);
  const found = findTemplate(migrations);
  if (found === 'unreadable') throw new Error(`${root} belongs to another user: remove it as that user.`);
  if (found !== null) {
    // This fails for files of another user, which are readable already.
    await letAllRead(root).catch(() => undefined);
    return template;
  }

  const draft = join(templatesDirectory, `new-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    const onFatal = (error: Error) => {
      throw error;
    };
    const database = await openEmbedded(draft, { log: createLogger('silent'), migrations, onFatal });
    await migrate(database.pool, { log: createLogger('silent'), migrations });
    await database.pool.query('VACUUM (FREEZE, ANALYZE)');
    await database.close();
    await rename(join(draft, 'postgres'), join(draft, 'data'));
    const engine = await PGlite.create({ loadDataDir: undefined, dataDir: join(draft, 'data') });
    const archive = await engine.dumpDataDir('none');
    await engine.close();
    await writeFile(join(draft, 'data.tar'), Buffer.from(await archive.arrayBuffer()));
    // The service may run as a different user than the one who installs it, whose umask may be restrictive.
    await letAllRead(draft);
    await chmod(templatesDirectory, 0o755);
    await rename(draft, root).catch((error: unknown) => {
      if (!existsSync(root)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  for (const name of await readdir(templatesDirectory)) {
    if (/^[0-9a-f]{16}$/.test(name) && name !== basename(root)) {
      await rm(join(templatesDirectory, name), { recursive: true, force: true });
    }
  }
  return template;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { directory } = await prepareEmbedded();
  process.stdout.write(`Prepared the embedded database in ${directory}\n`);
}
