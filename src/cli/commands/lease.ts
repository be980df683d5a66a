import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import { loadDataConfig } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { leaseDays } from '../../services/application/lease-days.ts';
import { openKeyring } from '../../services/application/open-keyring.ts';
import { ServiceError } from '../../services/errors.ts';
import { issueLeaseAsOperator } from '../../services/lease/issue-as-operator.ts';
import { type DeviceRequest, deviceRequest } from '../../services/lease/issue-offline.ts';
import { checkTarget } from '../backup/atomic-write.ts';
import { describeAddress, hasEmbeddedDatabase, inMemoryDatabaseError } from '../database.ts';
import { CommandError } from '../failure.ts';
import { openAccounts } from '../open-accounts.ts';
import { say, type Terminal } from '../terminal.ts';

/** Without --out, the lease is printed. */
const target = { other: 'name another file, or leave --out away', existing: 'remove it' };

interface Options {
  readonly days?: number;
  readonly qr?: boolean;
  readonly out?: string;
}

export function addLeaseCommand(program: Command, terminal: Terminal): void {
  program
    .command('lease')
    .description('issue a lease for a device without a network')
    .argument('<license>', 'the id of the license, or the first characters of its key that lists show')
    .argument('<request>', 'the text that the device shows: LKQ2. and 86 characters', parseRequest)
    .option('--days <number>', "the term, 1 to 30; by default the application's leaseDays", parseDays)
    .option('--qr', 'print the lease as a QR code too')
    .option('--out <file>', 'write the lease to a new file instead of printing it')
    .action(async (license: string, request: DeviceRequest, { days, qr = false, out }: Options) => {
      const config = loadDataConfig(terminal.env);
      const { database: address } = config;
      if (address.kind === 'memory') throw inMemoryDatabaseError();
      if (address.kind === 'embedded' && !hasEmbeddedDatabase(address.directory)) {
        throw new CommandError(
          `There is no database in ${address.directory}: set DATA_DIR or DATABASE_URL to the service's value.`,
        );
      }
      if (out !== undefined) await checkTarget(out, false, target);
      const database = await openAccounts(config, 'issue the lease', terminal);
      try {
        const keyring = await openKeyring(config, database.pool);
        const ctx = {
          env: { database, clock: systemClock },
          actor: { type: 'operator' as const },
          client: { ip: null, country: null },
        };
        const input = { keyring, license, request, ...(days !== undefined && { days }) };
        const { lease, licenseId, expiresAt } = await issueLeaseAsOperator({ ctx, input }).catch(explain);
        if (out === undefined) say(terminal.stdout, lease);
        else await writeFile(out, `${lease}\n`, { flag: 'wx' });
        if (qr) say(terminal.stdout, renderUnicodeCompact(lease, { border: 2 }));
        say(
          terminal.stderr,
          `Issued a lease for the license ${licenseId} in ${describeAddress(address)}. It ends at ` +
            `${expiresAt.toISOString()}. Bring ${out === undefined ? 'it' : `the file ${out}`} to the device as it is.`,
        );
      } finally {
        await database.close();
      }
    });
}

function parseRequest(text: string): DeviceRequest {
  const parsed = deviceRequest.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('It must be LKQ2. and 86 characters, exactly as the device shows it.');
}

function parseDays(text: string): number {
  const parsed = leaseDays.safeParse(/^\d+$/.test(text) ? Number(text) : null);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('It must be a whole number from 1 to 30.');
}

/** A refusal of the service, as this command's. */
function explain(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const hint =
    error.code === 'LICENSE_NOT_FOUND'
      ? ' Name it by its id, or by the first characters of its key that lists show, for the application of the request.'
      : '';
  throw new CommandError(`No lease was issued: ${error.message} (${error.code})${hint}`, { cause: error });
}
