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

/** What the verdict needs to know of the client. */
export async function clientFacts(
  ctx: ServiceContext,
  { application, clientVersion, hwid }: ClientRequest,
): Promise<ClientFacts> {
  const { caches } = ctx.env;
  return {
    version: clientVersion,
    ipBanned: await caches.isBanned(application.id, 'ip', ctx.client.ip),
    hwidBanned: hwid !== null && (await caches.isBanned(application.id, 'hwid', hwid)),
  };
}
