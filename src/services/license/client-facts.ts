import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientFacts } from './decide.ts';

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
  const { ip } = ctx.client;
  return {
    version: clientVersion,
    // An address that could not be read is nobody's: a ban that matched it would refuse every such client.
    ipBanned: ip !== null && (await caches.isBanned(application.id, 'ip', ip)),
    hwidBanned: hwid !== null && (await caches.isBanned(application.id, 'hwid', hwid)),
  };
}
