import { migrationDiff, readSchema } from './migration-diff.ts';

/** Fails if the migrations do not produce the schema in prisma/schema.prisma. */
const diff = await migrationDiff(await readSchema());
if (diff === null) {
  process.stdout.write('The migrations match prisma/schema.prisma.\n');
} else {
  process.stderr.write(
    'The migrations and prisma/schema.prisma differ. Draft the missing migration with ' +
      `\`npm run migration:draft -- "<sentence>"\`. It would contain:\n\n${diff}\n`,
  );
  process.exitCode = 1;
}
