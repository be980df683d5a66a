import type { FailureVerdictCode } from '../../protocol/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import { type LicenseMembers, licenseMembers, type RefusalMembers } from '../license/answer-members.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import { type ClientFacts, graceEndsAt } from '../license/decide.ts';
import { judgeClient } from '../license/judge-client.ts';
import type { LockedLicense } from '../license/lock.ts';
import { noteUse } from '../license/note-use.ts';
import { sessionExpired } from '../protocol-error.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import type { StartedSession } from './session.ts';

/** The result of register, login and upgrade, before it is sealed. */
export type ClientAuthOutcome =
  | {
      readonly success: true;
      readonly code: 'OK';
      readonly message: string;
      readonly sessionToken: string;
      /** ISO 8601. */
      readonly expiresAt: string;
      readonly user: {
        readonly id: string;
        readonly username: string;
        readonly email: string | null;
        readonly applicationId: string;
      };
      readonly license:
        | ({
            readonly id: string;
            readonly status: string;
            readonly expiresAt: string | null;
            readonly subscriptionTier: number;
          } & LicenseMembers)
        | null;
      readonly session: { readonly ip: string | null; readonly hwid: string | null };
    }
  | RefusalOutcome;

/** A refusal, before it is sealed. */
export type RefusalOutcome = {
  readonly success: false;
  readonly code: FailureVerdictCode;
  readonly message: string;
} & RefusalMembers;

/** Thrown to end a client's request with a verdict; rolls back the transaction in which it is thrown. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: FailureVerdictCode;
  /** Further members of the answer. */
  readonly members: RefusalMembers;
  constructor(code: FailureVerdictCode, members: RefusalMembers = {}) {
    super(code);
    this.code = code;
    this.members = members;
  }
}

/** The result of an accepted request. */
export interface Grant {
  readonly user: { readonly id: string; readonly username: string; readonly email: string | null };
  readonly license: LockedLicense | null;
  readonly session: StartedSession;
}

/**
 * Common part of register, login and upgrade: checks the client first, and records the outcome in the security log.
 */
export async function answerClientAuth(
  ctx: ServiceContext,
  event: SecurityEvent,
  request: ClientRequest & { readonly username: string },
  grant: (client: ClientFacts) => Promise<Grant>,
): Promise<ClientAuthOutcome> {
  try {
    const granted = await grant(await admitClient(ctx, request));
    if (granted.license !== null) noteLicense(ctx, request, granted.license);
    note(ctx, event, request, 'OK', granted);
    return success(ctx, request, granted);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    note(ctx, event, request, error.code, null);
    return refusalOutcome(request.application, error);
  }
}

/** The answer to a request that ended with a refusal. */
export const refusalOutcome = (
  application: Pick<ApplicationSnapshot, 'messages'>,
  { code, members }: Refusal,
): RefusalOutcome => ({ success: false, code, message: messageFor(application, code), ...members });

/**
 * Repeats the client checks, because the application's settings and bans may have changed while a password was hashed.
 * @throws {Refusal} APP_DISABLED, APP_OUTDATED, IP_BANNED, HWID_BANNED
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export async function admitAgain<Request extends ClientRequest>(
  ctx: ServiceContext,
  request: Request,
): Promise<{ readonly request: Request; readonly client: ClientFacts }> {
  const application = await ctx.env.caches.application(request.application.id);
  if (application === null) throw sessionExpired();
  const current = { ...request, application };
  return { request: current, client: await admitClient(ctx, current) };
}

/**
 * Checks the client, before anything that the request is about.
 * @throws {Refusal} APP_DISABLED, APP_OUTDATED, IP_BANNED, HWID_BANNED
 */
export async function admitClient(ctx: ServiceContext, request: ClientRequest): Promise<ClientFacts> {
  const { code, client } = await judgeClient(ctx, request);
  if (code !== 'OK') throw new Refusal(code);
  return client;
}

function noteLicense(
  ctx: ServiceContext,
  { application, hwid }: ClientRequest,
  license: LockedLicense,
): void {
  ctx.env.securityLog.seen(license.id, ctx.client.ip);
  noteUse(ctx, { application, license, hwid });
}

function note(
  ctx: ServiceContext,
  event: SecurityEvent,
  { application, clientVersion, protocol, hwid, username }: ClientRequest & { readonly username: string },
  code: string,
  granted: Grant | null,
): void {
  ctx.env.securityLog.add(ctx.client, {
    developerId: application.developerId,
    applicationId: application.id,
    event,
    code,
    licenseId: granted?.license?.id ?? null,
    userId: granted?.user.id ?? null,
    hwid,
    metadata: { username, ...(code === 'APP_OUTDATED' && { clientVersion, protocol }) },
  });
}

function success(
  ctx: ServiceContext,
  { application, hwid }: ClientRequest,
  { user, license, session }: Grant,
): ClientAuthOutcome {
  const now = new Date(ctx.env.clock.now());
  return {
    success: true,
    code: 'OK',
    message: messageFor(application, 'OK'),
    sessionToken: session.sessionToken,
    expiresAt: session.expiresAt.toISOString(),
    user: { id: user.id, username: user.username, email: user.email, applicationId: application.id },
    license: license && {
      id: license.id,
      status: license.status,
      expiresAt: license.expiresAt?.toISOString() ?? null,
      subscriptionTier: license.subscriptionTier,
      ...licenseMembers(license, graceEndsAt(license, now)),
    },
    session: { ip: ctx.client.ip, hwid },
  };
}
