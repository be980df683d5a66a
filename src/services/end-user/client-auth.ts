import type { FailureVerdictCode } from '../../protocol/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ServiceContext } from '../context.ts';
import { type ClientRequest, clientFacts } from '../license/client-facts.ts';
import { type ClientFacts, decide } from '../license/decide.ts';
import type { LockedLicense } from '../license/lock.ts';
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
      readonly license: {
        readonly id: string;
        readonly status: string;
        readonly expiresAt: string | null;
        readonly subscriptionTier: number;
      } | null;
      readonly session: { readonly ip: string | null; readonly hwid: string | null };
    }
  | { readonly success: false; readonly code: FailureVerdictCode; readonly message: string };

/** Thrown to end a client's request with a verdict; rolls back the transaction in which it is thrown. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: FailureVerdictCode;
  constructor(code: FailureVerdictCode) {
    super(code);
    this.code = code;
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
    if (granted.license !== null) ctx.env.securityLog.seen(granted.license.id, ctx.client.ip);
    note(ctx, event, request, 'OK', granted);
    return success(ctx, request, granted);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    note(ctx, event, request, error.code, null);
    return { success: false, code: error.code, message: messageFor(request.application, error.code) };
  }
}

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

/** @throws {Refusal} APP_DISABLED, APP_OUTDATED, IP_BANNED, HWID_BANNED */
async function admitClient(ctx: ServiceContext, request: ClientRequest): Promise<ClientFacts> {
  const client = await clientFacts(ctx, request);
  const now = new Date(ctx.env.clock.now());
  const { code } = decide({ ...request, client, license: 'not-asked', now });
  if (code !== 'OK') throw new Refusal(code);
  return client;
}

function note(
  ctx: ServiceContext,
  event: SecurityEvent,
  { application, hwid, username }: ClientRequest & { readonly username: string },
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
    metadata: { username },
  });
}

function success(
  ctx: ServiceContext,
  { application, hwid }: ClientRequest,
  { user, license, session }: Grant,
): ClientAuthOutcome {
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
    },
    session: { ip: ctx.client.ip, hwid },
  };
}
