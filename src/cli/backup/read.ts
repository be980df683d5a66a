import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../failure.ts';
import {
  anyHeader,
  type BackupHeader,
  type BackupTable,
  formatVersion,
  headerSchema,
  rowsIn,
  trailerSchema,
} from './format.ts';
import { LineTooLongError, linesIn } from './lines.ts';

/** A batch of rows of a table, each as PostgreSQL's JSON. */
export interface BackupRows {
  readonly table: BackupTable;
  readonly rows: readonly string[];
  /** The number of the first of these rows in the table, starting at 1. */
  readonly from: number;
}

/** An open backup. Reading `batches` to the end verifies that the file is complete and unchanged. */
export interface OpenBackup {
  readonly header: BackupHeader;
  readonly batches: AsyncIterable<BackupRows>;
}

/**
 * Opens a backup and reads its header.
 * @throws {CommandError} here or while the batches are read, when the file is not a backup, truncated, changed or too new
 */
export async function openBackup(path: string, signal: AbortSignal): Promise<OpenBackup> {
  const lines = linesOfFile(path, signal);
  const first = await lines.next();
  if (first.done === true) throw broken(path, 'it is empty');
  const hash = createHash('sha256').update(first.value).update('\n');
  const header = parseHeader(path, first.value);
  return { header, batches: readBatches(path, header, lines, hash) };
}

function parseHeader(path: string, line: Buffer): BackupHeader {
  const value = parseJson(line);
  const any = anyHeader.safeParse(value);
  if (!any.success) throw new CommandError(`${path} is not a Latchkey backup.`);
  if (any.data.version > formatVersion) {
    throw new CommandError(
      `${path} was made by Latchkey ${any.data.service}, in a format that this version does not know. Restore it with ` +
        'that version or a later one.',
    );
  }
  const header = headerSchema.safeParse(value);
  if (!header.success) throw broken(path, 'its first line is damaged');
  return header.data;
}

const batchBytes = 512 * 1024;
const maxBatchRows = 2_000;

async function* readBatches(
  path: string,
  header: BackupHeader,
  lines: AsyncGenerator<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<BackupRows> {
  const next = async (): Promise<Buffer> => {
    const line = await lines.next();
    if (line.done === true) throw broken(path, 'its end is missing');
    return line.value;
  };
  let number = 1;
  for (const table of header.tables) {
    let rows: string[] = [];
    let bytes = 0;
    for (let left = table.rows; left > 0; left--) {
      const line = await next();
      number += 1;
      // Bytes that are not UTF-8 would be decoded to another text, which the checksum does not cover.
      if (!isUtf8(line)) throw broken(path, `line ${number}, a row of ${table.name}, is not UTF-8`);
      hash.update(line).update('\n');
      rows.push(line.toString('utf8'));
      bytes += line.length;
      if (rows.length === maxBatchRows || bytes >= batchBytes || left === 1) {
        yield { table, rows, from: table.rows - left + 2 - rows.length };
        rows = [];
        bytes = 0;
      }
    }
  }
  const trailer = trailerSchema.safeParse(parseJson(await next()));
  if (!trailer.success || trailer.data.rows !== rowsIn(header)) {
    throw broken(path, 'its last line is damaged');
  }
  if (trailer.data.sha256 !== hash.digest('hex')) throw broken(path, 'its content has changed');
  if ((await lines.next()).done !== true) throw broken(path, 'there is data after its end');
}

async function* linesOfFile(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // The reader of `gunzip` gets the error too, so this promise need not report it.
  pipeline(createReadStream(path), gunzip, { signal }).catch(() => undefined);
  try {
    yield* linesIn(gunzip);
  } catch (error) {
    signal.throwIfAborted();
    throw describeReadFailure(path, error);
  } finally {
    gunzip.destroy();
  }
}

function describeReadFailure(path: string, error: unknown): unknown {
  if (error instanceof LineTooLongError) {
    return error.line === 1
      ? new CommandError(
          `${path} is not a Latchkey backup: its first line is longer than that of any backup.`,
        )
      : broken(path, `line ${error.line} is longer than a line of any Latchkey backup`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return new CommandError(`There is no file ${path}.`);
  if (code === 'EISDIR') return new CommandError(`${path} is a directory.`);
  if (code === 'Z_BUF_ERROR') return broken(path, 'its end is missing');
  if (code === 'Z_DATA_ERROR') {
    return error instanceof Error && error.message.includes('header check')
      ? new CommandError(`${path} is not a Latchkey backup.`)
      : broken(path, 'its content has changed');
  }
  return code.startsWith('Z_') || error instanceof RangeError
    ? broken(path, 'its content has changed')
    : error;
}

const broken = (path: string, how: string): CommandError =>
  new CommandError(`${path} is damaged: ${how}. Nothing was restored from it: use another backup.`);

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
