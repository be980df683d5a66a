import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientFacts } from '../license/decide.ts';

/** Client software that asks: its session's application and version, and the device it names. */
export interface ClientRequest {
  readonly application: ApplicationSnapshot;
  readonly clientVersion: string;
  /** Null when none was sent: the device checks are skipped. */
  readonly hwid: string | null;
}

/** An address that could not be read is nobody's: a ban that matched it would refuse every such client. */
export async function isAddressBanned(
  { env, client }: ServiceContext,
  application: ApplicationSnapshot,
): Promise<boolean> {
  return client.ip !== null && (await env.caches.isBanned(application.id, 'ip', client.ip));
}

/** What the verdict needs to know of the client. */
export async function clientFacts(
  ctx: ServiceContext,
  { application, clientVersion, hwid }: ClientRequest,
): Promise<ClientFacts> {
  const { caches } = ctx.env;
  return {
    version: clientVersion,
    ipBanned: await isAddressBanned(ctx, application),
    hwidBanned: hwid !== null && (await caches.isBanned(application.id, 'hwid', hwid)),
  };
}
