import { Prisma } from '../../db/client.ts';
import { licenseTable } from './lists.ts';
import type { LicenseRow } from './view.ts';

/**
 * Columns to write, by their names in Prisma. Others keep their values. Devices and the key are not among them: they have
 * rows of their own (device-rows.ts).
 */
export type LicenseColumns = Partial<
  Omit<
    LicenseRow,
    | 'id'
    | 'applicationId'
    | 'keyPrefix'
    | 'hwid'
    | 'deviceHash'
    | 'deviceCount'
    | 'lastIp'
    | 'createdAt'
    | 'updatedAt'
  >
>;

/** Writes the columns of locked licenses in one statement; each may have columns of its own. */
export async function writeColumns(
  transaction: Prisma.TransactionClient,
  changed: readonly { readonly id: string; readonly data: LicenseColumns }[],
  now: Date,
): Promise<void> {
  const rows = changed.map(({ id, data }) => ({ id, data: inSql(data) }));
  const columns = [...new Set(rows.flatMap(({ data }) => Object.keys(data)))];
  if (columns.length === 0) return;
  const assignments = columns.map((column) => `${column} = (changed.license).${column}`).join(', ');
  // OFFSET keeps PostgreSQL from making the row again for each of its columns.
  await transaction.$executeRaw`
    UPDATE licenses SET ${Prisma.raw(assignments)}, updated_at = ${now}
    FROM (
      SELECT licenses.id, jsonb_populate_record(licenses, given.data) AS license
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (id uuid, data jsonb)
      JOIN licenses ON licenses.id = given.id OFFSET 0
    ) AS changed
    WHERE licenses.id = changed.id`;
}

const prefix = `${licenseTable.name}.`;

/** The values by the names of their columns in SQL. Names that are not of the table are left out. */
function inSql(data: LicenseColumns): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => {
      const column = licenseTable.columns[name]?.slice(prefix.length);
      return column === undefined || value === undefined ? [] : [[column, value]];
    }),
  );
}
