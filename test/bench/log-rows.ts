import { readFileSync } from 'node:fs';
import pg from 'pg';
import { createSigner } from '../../src/crypto/signer.ts';
import { openDatabase } from '../../src/db/database.ts';
import { newId, timeOfId } from '../../src/lib/ids.ts';
import { randomBytes } from '../../src/lib/random-bytes.ts';
import { noUses } from '../../src/services/security-log/uses.ts';
import { writeBatch } from '../../src/services/security-log/write-batch.ts';
import { createServerDatabase, silent } from '../setup/database.ts';

/**
 * What a row of the security log costs PostgreSQL: the CPU time of the backend that stores it, from `/proc`, so the server
 * must run on this machine. It writes batches as the service does, of 20,000 licenses of ten applications, into a new
 * database of the server in TEST_DATABASE_URL, which it drops.
 */
const rounds = 5;
const rowsOfRound = 40_000;
const sizes = [1_000, 2_000];
const ticksPerSecond = 100;

const { url, drop } = await createServerDatabase();
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = on`);
const database = await openDatabase({ kind: 'server', url }, { log: silent, maxConnections: 1 });

const developerId = newId();
const email = 'ada@example.com';
await database.prisma.developer.create({
  data: { id: developerId, email, emailNormalized: email, name: 'Ada', passwordHash: '$argon2id$none' },
});
const applicationIds = Array.from({ length: 10 }, newId);
const publicKey = new Uint8Array(createSigner(randomBytes(32)).publicKey);
await database.prisma.application.createMany({
  data: applicationIds.map((id) => ({
    ...{ id, developerId, name: 'Photo Lab', publicKey, privateKeyEncrypted: new Uint8Array(60) },
  })),
});
const licenseIds = Array.from({ length: 20_000 }, newId);
const one = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('The list is empty');
  return item;
};

async function writeRows(size: number): Promise<void> {
  for (let written = 0; written < rowsOfRound; written += size) {
    const entries = Array.from({ length: size }, () => ({
      ...{
        id: newId(),
        developerId,
        applicationId: one(applicationIds),
        event: 'license_validated' as const,
      },
      ...{ code: 'OK', licenseId: one(licenseIds), hwid: randomHwid(), ip: '203.0.113.7', country: null },
      createdAt: new Date(),
    }));
    const minute = Math.floor(timeOfId(newId()) / 60_000);
    const count = Math.round(size / applicationIds.length);
    const counts = applicationIds.map((applicationId) => ({
      developerId,
      applicationId,
      minute,
      code: 'OK',
      count,
    }));
    await writeBatch(database.pool, {
      entries,
      uses: { ...noUses, counts: [{ id: newId(), mayBeAdded: false, counts }] },
    });
  }
}

const hwids = Array.from({ length: 1_000 }, () => randomBytes(16).toString('hex'));
const randomHwid = () => one(hwids);

try {
  const backend = await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const cpuSeconds = (): number => {
    const fields =
      readFileSync(`/proc/${backend.rows[0]?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  };
  const written = async () => {
    const { rows } = await admin.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
    return Number(rows[0]?.bytes);
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const size of sizes) {
      const [cpu, wal, begun] = [cpuSeconds(), await written(), performance.now()];
      await writeRows(size);
      const [perRow, bytes] = [(cpuSeconds() - cpu) / rowsOfRound, ((await written()) - wal) / rowsOfRound];
      const elapsed = (performance.now() - begun) / rowsOfRound;
      process.stdout.write(
        `batches of ${size}: ${(perRow * 1e6).toFixed(1)} µs of CPU, ${(elapsed * 1e3).toFixed(1)} µs, ${bytes.toFixed(0)} bytes of WAL a row\n`,
      );
    }
  }
  const { rows } = await admin.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(inhrelid)) / (SELECT count(*) FROM security_log) AS bytes
     FROM pg_inherits WHERE inhparent = 'security_log'::regclass`,
  );
  process.stdout.write(`${Number(rows[0]?.bytes).toFixed(0)} bytes of disk a row, with indexes\n`);
} finally {
  await database.close();
  await admin.end();
  await drop();
}
