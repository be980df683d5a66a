import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { openEmbedded } from '../db/embedded/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { type Migration, readMigrations } from '../db/migrations.ts';
import { createLogger } from '../lib/log.ts';

const schemaPath = fileURLToPath(new URL('../../prisma/schema.prisma', import.meta.url));

/** Reads `prisma/schema.prisma`. */
export function readSchema(): Promise<string> {
  return readFile(schemaPath, 'utf8');
}

/**
 * Returns the SQL that changes a database with these migrations to match the Prisma schema; null if it matches. Prisma's
 * schema engine compares them on a database in memory, so no server or download is needed. It compares tables, columns,
 * indexes and keys; it ignores CHECK constraints and partitions, which it does not support.
 */
export async function migrationDiff(
  schema: string,
  migrations?: readonly Migration[],
): Promise<string | null> {
  const log = createLogger('warn');
  const applied = migrations ?? (await readMigrations());
  const onFatal = (error: Error) => {
    throw error;
  };
  const database = await openEmbedded(null, { log, migrations: applied, onFatal });
  try {
    await migrate(database.pool, { log, migrations: applied });
    await engineStarted();
    const adapter = bindMigrationAwareSqlAdapterFactory(catalogAdapter(database.pool));
    const files = [{ path: schemaPath, content: schema }];
    const engine = await glue.SchemaEngine.new({ datamodels: [[schemaPath, schema]] }, () => {}, adapter);
    const partitions = await database.pool.query<{ name: string }>(
      'SELECT inhrelid::regclass::text AS name FROM pg_inherits',
    );
    const { stdout, exitCode } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: fileURLToPath(new URL('.', import.meta.url)) },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: partitions.rows.map(({ name }) => `public.${name}`), externalEnums: [] },
    });
    engine.free();
    return exitCode === 2 ? stdout : null;
  } finally {
    await database.close();
  }
}

/** An adapter that supports `"char"` columns: the engine reads them from the catalog, and the pg adapter does not know them. */
function catalogAdapter(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const { CHAR, TEXT } = pg.types.builtins;
  const charColumns = new WeakMap<object, number[]>();
  const query = pool.query.bind(pool);
  Reflect.set(pool, 'query', async (config: pg.QueryConfig) => {
    const result = await query(config);
    const found = [...result.fields.keys()].filter((index) => result.fields[index]?.dataTypeID === CHAR);
    for (const index of found) Object.assign(result.fields[index] ?? {}, { dataTypeID: TEXT });
    charColumns.set(result.rows, found);
    return result;
  });
  const factory = new PrismaPg(pool);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (sql) => {
      const result = await queryRaw(sql);
      for (const index of charColumns.get(result.rows) ?? []) {
        result.columnTypes[index] = ColumnTypeEnum.Character;
      }
      return result;
    };
    return adapter;
  };
  return factory;
}

let started: Promise<void> | undefined;

/** Once per process: the package keeps one engine's memory in module variables. */
function engineStarted(): Promise<void> {
  started ??= startEngine();
  return started;
}

/** The package's own entry point imports a .wasm file, which Node 20 does not support. */
async function startEngine(): Promise<void> {
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const binary = await readFile(entry.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(binary, { './schema_engine_bg.js': { ...glue } });
  glue.__wbg_set_wasm(instance.exports);
  // The engine reports the message of a panic here. Without this, the panic handler itself fails without a message.
  const report = (message: string) => process.stderr.write(`The schema engine panicked: ${message}\n`);
  Reflect.set(globalThis, 'PRISMA_WASM_PANIC_REGISTRY', { set_message: report });
  const start = instance.exports.__wbindgen_start;
  if (typeof start === 'function') start();
}
