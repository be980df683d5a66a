import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrationsDirectory } from '../db/migrations.ts';
import { migrationDiff, readSchema } from './migration-diff.ts';

/** Drafts the migration from the current migrations to prisma/schema.prisma, named after a sentence. */
const sentence = process.argv[2]
  ?.toLowerCase()
  .replaceAll(/[^a-z0-9]+/g, '_')
  .replaceAll(/^_|_$/g, '');

if (sentence === undefined || sentence === '') {
  process.stderr.write('Describe the migration: npm run migration:draft -- "add a column for …"\n');
  process.exit(1);
}

const diff = await migrationDiff(await readSchema());
const time = new Date().toISOString().slice(0, 19).replaceAll(/\D/g, '');
const directory = join(migrationsDirectory, `${time}_${sentence}`);
await mkdir(directory);
await writeFile(
  join(directory, 'migration.sql'),
  diff ?? '-- prisma/schema.prisma has no change to apply.\n',
);
process.stdout.write(
  `Drafted ${directory}/migration.sql\nRead it before you commit it; add CHECK constraints by hand.\n`,
);
