import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import type { DatabaseAddress } from './address.ts';
import { PrismaClient } from './client.ts';
import { ensureLogPartitions } from './log-partitions.ts';
import { migrate } from './migrate.ts';
import { connectServer } from './server.ts';

/** An open, migrated database. */
export interface Database {
  readonly kind: DatabaseAddress['kind'];
  readonly prisma: PrismaClient;
  /** The same connections that `prisma` uses, for SQL of our own. Embedded, it has one connection. */
  readonly pool: pg.Pool;
  /** Waits for running queries, then lets go of everything. */
  close(): Promise<void>;
}

/**
 * Opens the database, applies what migrations it lacks, and makes the coming weeks' log partitions.
 * @throws {DatabaseStartError} with a message for the operator
 */
export async function openDatabase(
  address: DatabaseAddress,
  options: { readonly log: Logger },
): Promise<Database> {
  const { log } = options;
  if (address.kind !== 'server') throw new Error('not yet');
  const pool = await connectServer(address.url, log);
  try {
    await migrate(pool, { log });
    await ensureLogPartitions(pool, new Date());
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
    return {
      kind: address.kind,
      prisma,
      pool,
      close: async () => {
        await prisma.$disconnect();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}
