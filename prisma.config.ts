import { defineConfig } from 'prisma/config';

// `prisma generate` insists on a schema-engine binary that it never runs; naming any executable spares the
// download. Only for `generate`: with a stand-in, `prisma migrate` would exit 0 having done nothing.
if (process.argv.includes('generate')) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://unset' },
});
