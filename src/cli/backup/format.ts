import { z } from 'zod';

/** See README.md beside this file, which states the format. */
export const formatName = 'latchkey-backup';
export const formatVersion = 1;

const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/);

/** Told to people, at a terminal that would carry out what is no letter. */
const printable = z.string().regex(/^[\x20-\x7e]{1,255}$/);

const table = z.strictObject({
  name: identifier,
  columns: z.array(identifier).min(1),
  /** How many lines of the file are rows of it. */
  rows: z.number().int().nonnegative(),
});

/** The first line. What every version of it has comes first, so that a newer one can be told from no backup at all. */
export const anyHeader = z.looseObject({
  format: z.literal(formatName),
  version: z.number().int().positive(),
  /** Version of Latchkey that made it. */
  service: printable,
});

export const headerSchema = z.strictObject({
  ...anyHeader.shape,
  version: z.literal(formatVersion),
  /** When the snapshot was taken. */
  createdAt: z.iso.datetime(),
  source: z.enum(['embedded', 'server']),
  /** What had been applied to the database; in order, save where an earlier version went by a clock. */
  migrations: z
    .array(z.strictObject({ name: printable, checksum: z.string().regex(/^[0-9a-f]{64}$/) }))
    .min(1),
  tables: z.array(table),
});

/** The last line. */
export const trailerSchema = z.strictObject({
  rows: z.number().int().nonnegative(),
  /** Of all bytes before this line, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export type BackupHeader = z.infer<typeof headerSchema>;
export type BackupTable = z.infer<typeof table>;

export const rowsIn = (header: BackupHeader): number =>
  header.tables.reduce((sum, { rows }) => sum + rows, 0);
