import { clientPaths } from '../../src/protocol/constants.ts';
import { openSession, type SealedSession, type SessionOptions } from './sealed-client.ts';
import type { TestServer } from './server.ts';
import { databaseState, sql } from './stored.ts';
import type { SeededApplication } from './world.ts';

/** A request of client software about an end user. */
export const clientVerbs = ['register', 'login', 'upgrade'] as const;
export type ClientVerbName = (typeof clientVerbs)[number];

/** Their names in the security log. */
export const clientEvents = {
  register: 'user_registered',
  login: 'user_logged_in',
  upgrade: 'user_upgraded',
} as const satisfies Record<ClientVerbName, string>;

export type Members = Readonly<Record<string, unknown>>;

/** Sends a request in a session. */
export const askIn = (session: SealedSession, verb: ClientVerbName, members: Members) =>
  session.ask(clientPaths[verb], members);

/** Sends a request in a new session, from a separate address by default. */
export async function ask(
  server: TestServer,
  application: SeededApplication,
  verb: ClientVerbName,
  members: Members,
  options?: SessionOptions,
): Promise<Record<string, unknown>> {
  return askIn(await openSession(server, application, options), verb, members);
}

export interface StoredUser {
  readonly id: string;
  readonly email: string | null;
  readonly passwordHash: string;
  readonly licenseId: string | null;
  readonly lastIp: string | null;
  readonly lastHwid: string | null;
}

/** An end user's row; undefined if there is none. */
export async function storedUser(
  server: TestServer,
  application: { readonly id: string },
  username: string,
): Promise<StoredUser | undefined> {
  const [user] = await sql<StoredUser>(
    server,
    `SELECT id, email, password_hash AS "passwordHash", license_id AS "licenseId", last_ip AS "lastIp",
       last_hwid AS "lastHwid" FROM end_users WHERE application_id = $1 AND username = $2`,
    [application.id, username],
  );
  return user;
}

export interface StoredSession {
  readonly tokenHash: Buffer;
  readonly ip: string | null;
  readonly hwid: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** An end user's sessions, oldest first. */
export function storedSessions(server: TestServer, userId: string): Promise<StoredSession[]> {
  return sql<StoredSession>(
    server,
    `SELECT token_hash AS "tokenHash", ip, hwid, created_at AS "createdAt", expires_at AS "expiresAt"
     FROM end_user_sessions WHERE end_user_id = $1 ORDER BY id`,
    [userId],
  );
}

/** All data except the log, to check that a refusal changes nothing. */
export async function stateBesideLog(server: TestServer): Promise<Record<string, unknown>> {
  const { security_log: _, ...state } = await databaseState(server);
  return state;
}
