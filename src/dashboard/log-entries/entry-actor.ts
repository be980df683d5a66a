import type { ActorKind, LogEntryFragment } from '../generated/graphql.ts';

const kinds = {
  api_key: 'API key',
  client: 'Client',
  operator: 'Operator',
  session: 'Dashboard',
  system: 'Service',
} as const satisfies Record<ActorKind, string>;

/** Who caused an entry, such as "Ada" or "API key shop"; null in old entries. */
export function actorText({ actor }: Pick<LogEntryFragment, 'actor'>): string | null {
  if (!actor) return null;
  if (!actor.name) return kinds[actor.kind];
  return actor.kind === 'session' ? actor.name : `${kinds[actor.kind]} ${actor.name}`;
}
