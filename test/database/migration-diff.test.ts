import { beforeAll, describe, expect, it } from 'vitest';
import { migrationDiff, readSchema } from '../../src/tools/migration-diff.ts';
import { ensureTemplate } from '../setup/database.ts';

beforeAll(ensureTemplate);

describe('the migrations', () => {
  it('match the Prisma schema', async () => {
    expect(await migrationDiff(await readSchema())).toBeNull();
  });

  it('differ from a schema with another column, index or default', async () => {
    const schema = (await readSchema())
      .replace('model Ban {', 'model Ban {\n  reason String?')
      .replace('@default("1.0.0")', '@default("2.0.0")')
      .replace('@@index([applicationId, id])\n  @@map("licenses")', '@@map("licenses")');
    const diff = await migrationDiff(schema);
    expect(diff).toContain('ALTER TABLE "bans" ADD COLUMN     "reason" TEXT;');
    expect(diff).toContain(`ALTER TABLE "applications" ALTER COLUMN "version" SET DEFAULT '2.0.0';`);
    expect(diff).toContain('DROP INDEX "licenses_application_id_id_idx";');
  });

  it('differ from a schema with another security log', async () => {
    const schema = (await readSchema()).replace(
      'model SecurityLogEntry {',
      'model SecurityLogEntry {\n  note String?',
    );
    expect(await migrationDiff(schema)).toContain('ALTER TABLE "security_log" ADD COLUMN     "note" TEXT;');
  });
});
