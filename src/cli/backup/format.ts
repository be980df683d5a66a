import { z } from 'zod';

/** README.md in this folder specifies the format. */
export const formatName = 'latchkey-backup';
export const formatVersion = 1;

const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/);

/** Printable ASCII: these texts are shown at a terminal, which would interpret control characters. */
const printable = z.string().regex(/^[\x20-\x7e]{1,255}$/);

const table = z.strictObject({
  name: identifier,
  columns: z.array(identifier).min(1),
  /** How many lines of the file are rows of this table. */
  rows: z.number().int().nonnegative(),
});

/** The part of the first line that every version has. It tells a newer format apart from other files. */
export const anyHeader = z.looseObject({
  format: z.literal(formatName),
  version: z.number().int().positive(),
  /** The version of Latchkey that wrote the backup. */
  service: printable,
});

export const headerSchema = z.strictObject({
  ...anyHeader.shape,
  version: z.literal(formatVersion),
  /** The time of the snapshot. */
  createdAt: z.iso.datetime(),
  source: z.enum(['embedded', 'server']),
  /** The applied migrations. Earlier versions listed them by time of application, which may differ from their order. */
  migrations: z
    .array(z.strictObject({ name: printable, checksum: z.string().regex(/^[0-9a-f]{64}$/) }))
    .min(1),
  tables: z.array(table),
});

/** The last line. */
export const trailerSchema = z.strictObject({
  rows: z.number().int().nonnegative(),
  /** SHA-256 of all bytes before this line, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export type BackupHeader = z.infer<typeof headerSchema>;
export type BackupTable = z.infer<typeof table>;

export const rowsIn = (header: BackupHeader): number =>
  header.tables.reduce((sum, { rows }) => sum + rows, 0);
