/** What an API key may do. A new name is added to the keys with `*` by itself, and to no other. */
export const scopes = [
  /** Also policies, devices, bans and explanations. */
  'licenses:read',
  'licenses:write',
  /** Creating license keys, and giving a license a new one. */
  'licenses:mint',
  /** End users. */
  'users:read',
  'users:write',
  'applications:read',
  'applications:write',
  /** The security log, its stream, and metrics. */
  'logs:read',
  'events:read',
  'webhooks:read',
  'webhooks:write',
  /** The developer's profile and settings, API keys, and the export of the account. */
  'account:read',
  'account:write',
] as const;

export type Scope = (typeof scopes)[number];

/** Scopes about the account as a whole, which a key for one application does not have. */
const accountScopes: ReadonlySet<Scope> = new Set<Scope>([
  'account:read',
  'account:write',
  'webhooks:read',
  'webhooks:write',
]);

export const isAboutAccount = (scope: Scope): boolean => accountScopes.has(scope);

/** What a key stores that may do everything, also what later versions add. */
export const everyScope = '*';

/** Parses stored scopes. A name that this version does not know grants nothing. */
export function readScopes(stored: readonly string[]): readonly Scope[] {
  return stored.includes(everyScope) ? scopes : scopes.filter((scope) => stored.includes(scope));
}
