import { migrationDiff, readSchema } from './migration-diff.ts';

/** Fails when prisma/schema.prisma says something that the migrations do not make. */
const diff = await migrationDiff(await readSchema());
if (diff === null) {
  process.stdout.write('The migrations make what prisma/schema.prisma says.\n');
} else {
  process.stderr.write(
    'The migrations and prisma/schema.prisma differ. Draft the missing one with ' +
      `\`npm run migration:draft -- "<sentence>"\`. It would be:\n\n${diff}\n`,
  );
  process.exitCode = 1;
}
