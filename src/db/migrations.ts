import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.ts';

/** One `migration.sql`, as shipped. */
export interface Migration {
  /** The name of its folder, `<time>_<sentence>`. Migrations run in the order of their names. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hex, as Prisma records it. */
  readonly checksum: string;
}

/** `prisma/migrations` of this installation. */
export const migrationsDirectory = join(packageRoot, 'prisma/migrations');

/** Reads every migration in `directory`, in the order in which they apply. */
export async function readMigrations(directory: string = migrationsDirectory): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(`${directory}/${name}/migration.sql`, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
