import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../lib/package-root.ts';
import type { Migration } from '../migrations.ts';

/**
 * A database that the build creates once, and a first start copies: initdb takes seconds and 800 MB of memory. It contains
 * no secrets. Copies share PostgreSQL's system identifier, which matters only for physical replication, and an embedded
 * database has none.
 */
export interface Template {
  /** A PostgreSQL data directory after a clean shutdown. */
  readonly directory: string;
  /** The same directory as a tar archive, for a database in memory. */
  readonly archive: string;
}

export const templatesDirectory = join(packageRoot, 'dist/embedded');

/** The version of the installed PGlite. Other versions may write other files. */
export function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const text = readFileSync(join(dirname(entry), '../package.json'), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}

/** The paths of the template for these migrations and this PGlite. It may not exist yet. */
export function templateOf(migrations: readonly Migration[]): Template {
  const hash = createHash('sha256').update(pgliteVersion());
  for (const migration of migrations) hash.update(`\n${migration.name} ${migration.checksum}`);
  const root = join(templatesDirectory, hash.digest('hex').slice(0, 16));
  return { directory: join(root, 'data'), archive: join(root, 'data.tar') };
}

/**
 * Finds the template. Without one, initdb and the migrations run at the first start.
 * @returns null if it does not exist, `unreadable` if this user cannot read it
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
