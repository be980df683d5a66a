import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientFacts } from './decide.ts';

/** A request of client software: its application, versions and device. */
export interface ClientRequest {
  readonly application: ApplicationSnapshot;
  readonly clientVersion: string;
  /** The version of the sealed protocol that it speaks. */
  readonly protocol: 1 | 2;
  /** Null if none was sent; device checks are then skipped. */
  readonly hwid: string | null;
}

/** Loads the facts about the client that the verdict depends on. */
export async function clientFacts(
  ctx: ServiceContext,
  { application, clientVersion, protocol, hwid }: ClientRequest,
): Promise<ClientFacts> {
  const { caches } = ctx.env;
  const { ip } = ctx.client;
  return {
    version: clientVersion,
    protocol,
    // Clients whose address cannot be parsed are never IP-banned: one ban would affect all of them.
    ipBanned: ip !== null && (await caches.isBanned(application.id, 'ip', ip)),
    hwidBanned: hwid !== null && (await caches.isBanned(application.id, 'hwid', hwid)),
  };
}
