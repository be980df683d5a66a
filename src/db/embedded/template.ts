import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../lib/package-root.ts';
import type { Migration } from '../migrations.ts';

/**
 * A database that is made once, when the service is built, and copied at a first start: initdb takes seconds and
 * 800 MB. It holds nothing secret. Copies share PostgreSQL's system identifier, which only physical replication
 * looks at, and an embedded database has none.
 */
export interface Template {
  /** Data directory, cleanly shut down. */
  readonly directory: string;
  /** The same as a tar archive, for a database in memory. */
  readonly archive: string;
}

export const templatesDirectory = join(packageRoot, 'dist/embedded');

/** Version of the PGlite that is installed: another one may write other files. */
export function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const text = readFileSync(join(dirname(entry), '../package.json'), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}

/** Where the template of these very migrations and this PGlite is, whether or not it has been made. */
export function templateOf(migrations: readonly Migration[]): Template {
  const hash = createHash('sha256').update(pgliteVersion());
  for (const migration of migrations) hash.update(`\n${migration.name} ${migration.checksum}`);
  const root = join(templatesDirectory, hash.digest('hex').slice(0, 16));
  return { directory: join(root, 'data'), archive: join(root, 'data.tar') };
}

/**
 * The template, when it has been made. Without one, initdb and the migrations run.
 * @returns `unreadable` where this user may not read it
 */
export function findTemplate(migrations: readonly Migration[]): Template | 'unreadable' | null {
  const template = templateOf(migrations);
  if (!existsSync(template.directory) || !existsSync(template.archive)) return null;
  return canBeRead(template) ? template : 'unreadable';
}

function canBeRead({ directory, archive }: Template): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    for (const file of [archive, join(directory, 'global/pg_control')]) accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
