import type pg from 'pg';
import { timestampArray, uuidArray } from '../../db/binary-arrays.ts';
import type { SecurityLogRow } from './entry.ts';

/**
 * Stores entries of client software, and notes them for searches.
 * @param entries of applications that the transaction has locked
 * @param mayBeStored whether some of them may be stored already. Otherwise PostgreSQL need not look for them first
 */
export async function insertEntries(
  client: pg.ClientBase,
  entries: readonly SecurityLogRow[],
  mayBeStored: boolean,
): Promise<void> {
  await client.query(mayBeStored ? `${insert} ON CONFLICT DO NOTHING` : insert, columnsOf(entries));
  await client.query(noteForSearches, rangesOf(entries));
}

// The actor is client software, which the row's user names if one is known: a constant of four bytes, and no parameter.
// All arrays are unnested in step, without the row store of a function in FROM.
const insert = `
  INSERT INTO security_log (id, developer_id, application_id, event, code, license_id, user_id, ip, country, hwid, metadata,
    created_at, actor_kind)
  SELECT unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::text[]),
    unnest($6::uuid[]), unnest($7::uuid[]), unnest($8::text[]), unnest($9::text[]), unnest($10::text[]),
    unnest($11::jsonb[]), unnest($12::timestamptz[]), 'client'::"SecurityActorKind"`;

function columnsOf(entries: readonly SecurityLogRow[]): unknown[] {
  return [
    uuidArray(entries.map((entry) => entry.id)),
    uuidArray(entries.map((entry) => entry.developerId)),
    uuidArray(entries.map((entry) => entry.applicationId)),
    entries.map((entry) => entry.event),
    entries.map((entry) => entry.code ?? null),
    uuidArray(entries.map((entry) => entry.licenseId ?? null)),
    uuidArray(entries.map((entry) => entry.userId ?? null)),
    entries.map((entry) => entry.ip),
    entries.map((entry) => entry.country),
    entries.map((entry) => entry.hwid ?? null),
    entries.map((entry) => JSON.stringify(entry.metadata ?? {})),
    timestampArray(entries.map((entry) => entry.createdAt)),
  ];
}

/** What the log's trigger does for other writers (db/log-search). Entries that are noted twice are indexed once. */
const noteForSearches = `
  INSERT INTO log_search_backlog (application_id, from_id, to_id, entries)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[])`;

function rangesOf(entries: readonly SecurityLogRow[]): unknown[] {
  const ranges = new Map<string, { from: string; to: string; amount: number }>();
  for (const { applicationId, id } of entries) {
    if (applicationId === null) continue;
    const { from, to, amount } = ranges.get(applicationId) ?? { from: id, to: id, amount: 0 };
    ranges.set(applicationId, { from: id < from ? id : from, to: id > to ? id : to, amount: amount + 1 });
  }
  const all = [...ranges.values()];
  return [
    [...ranges.keys()],
    all.map(({ from }) => from),
    all.map(({ to }) => to),
    all.map(({ amount }) => amount),
  ];
}
