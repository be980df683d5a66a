import { clientPaths } from '../../src/protocol/constants.ts';
import { createCallClient } from './call-client.ts';
import { openSession } from './sealed-client.ts';
import type { TestServer } from './server.ts';
import { sql } from './stored.ts';
import type { SeededApplication } from './world.ts';

/** What a license allows its customers to do with its devices. */
export interface SelfServiceTerms {
  readonly deviceLimit?: number;
  readonly selfService?: 'off' | 'key' | 'account';
  /** How many moves in how many seconds; omitted: any number. */
  readonly moves?: { readonly count: number; readonly periodSeconds: number };
  readonly cooldownSeconds?: number;
  readonly releaseIdleAfterSeconds?: number | null;
}

/** Sets the terms of a license by its row, and lets every given instance read it again. */
export async function setSelfService(
  servers: readonly TestServer[],
  licenseId: string,
  terms: SelfServiceTerms,
): Promise<void> {
  const { deviceLimit = 1, selfService = 'key', moves, cooldownSeconds = 0 } = terms;
  const [server] = servers;
  if (server === undefined) throw new Error('a license is on a server');
  await sql(
    server,
    `UPDATE licenses SET device_limit = $2, self_service = $3::"SelfService", move_count = $4,
       move_period_seconds = $5, cooldown_seconds = $6, release_idle_after_seconds = $7 WHERE id = $1`,
    [
      licenseId,
      deviceLimit,
      selfService,
      moves?.count ?? null,
      moves?.periodSeconds ?? null,
      cooldownSeconds,
      terms.releaseIdleAfterSeconds ?? null,
    ],
  );
  for (const { deps } of servers) await deps.services.changes.tell([{ cache: 'license', keys: 'all' }]);
}

/** Sends a request about devices, in version 1 or 2. */
export type AskDevices = (
  call: 'validate' | 'devices.list' | 'devices.release' | 'devices.move',
  members: Readonly<Record<string, unknown>>,
) => Promise<Record<string, unknown>>;

/** A client of an application, with an address of its own. */
export async function deviceClient(
  server: TestServer,
  application: SeededApplication,
  protocol: 1 | 2,
): Promise<AskDevices> {
  if (protocol === 2) return createCallClient(server, application).ask;
  const session = await openSession(server, application);
  return (call, members) => session.ask(clientPaths[call], members);
}

/** The members of an answer that a version adds to every one. */
const heads = ['v', 'call', 'time', 'timestamp', 'sessionId', 'message', 'keys'];

/** An answer without what every answer has. */
export const resultOf = (answer: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !heads.includes(name)));

export interface StoredDevice {
  readonly id: string;
  readonly hwid: string | null;
  readonly name: string | null;
  readonly platform: string | null;
  readonly releasedBy: string | null;
}

/** The rows of a license's devices, oldest first. */
export const storedDevices = (server: TestServer, licenseId: string): Promise<StoredDevice[]> =>
  sql<StoredDevice>(
    server,
    `SELECT id, hwid, name, platform, released_by::text AS "releasedBy" FROM devices
     WHERE license_id = $1 ORDER BY id`,
    [licenseId],
  );
