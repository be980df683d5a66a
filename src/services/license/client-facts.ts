import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientFacts } from './decide.ts';

/** What a client says about its device, for people who look at a list of devices. */
export interface DeviceLabels {
  readonly deviceName: string | null;
  readonly platform: string | null;
}

export const noLabels: DeviceLabels = { deviceName: null, platform: null };

/** The labels in a request's members. */
export function labelsOf(members: {
  readonly deviceName?: string | undefined;
  readonly platform?: string | undefined;
}): DeviceLabels {
  const { deviceName = null, platform = null } = members;
  return { deviceName, platform };
}

/** A request of client software: its application, versions and device. */
export interface ClientRequest {
  readonly application: ApplicationSnapshot;
  readonly clientVersion: string;
  /** The version of the sealed protocol that it speaks. */
  readonly protocol: 1 | 2;
  /** Null if none was sent; device checks are then skipped. */
  readonly hwid: string | null;
  /** For a device that is bound by the request. */
  readonly labels?: DeviceLabels;
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
    ipBanned: ip === null ? null : await caches.isBanned(application.id, 'ip', ip),
    hwidBanned: hwid === null ? null : await caches.isBanned(application.id, 'hwid', hwid),
  };
}
