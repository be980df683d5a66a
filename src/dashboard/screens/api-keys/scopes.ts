/** What a key may do about one kind of thing, in the words of docs/api-keys.md. */
export interface ScopeGroup {
  readonly name: string;
  /** Whether it is about the account, which a key for one application does not open. */
  readonly isAccount: boolean;
  readonly scopes: readonly {
    readonly scope: string;
    /** Completes the name in a list, such as "Licenses (read, mint)". */
    readonly verb: string;
    readonly label: string;
  }[];
}

export const scopeGroups: readonly ScopeGroup[] = [
  {
    name: 'Licenses',
    isAccount: false,
    scopes: [
      {
        scope: 'licenses:read',
        verb: 'read',
        label: 'Read licenses, devices, bans and policies, and explain verdicts',
      },
      { scope: 'licenses:write', verb: 'change', label: 'Change them: suspend, ban, renew, bulk changes' },
      { scope: 'licenses:mint', verb: 'mint', label: 'Mint keys, and give a license a new key' },
    ],
  },
  {
    name: 'Users',
    isAccount: false,
    scopes: [
      { scope: 'users:read', verb: 'read', label: 'Read users' },
      { scope: 'users:write', verb: 'change', label: 'Create, change and delete users' },
    ],
  },
  {
    name: 'Applications',
    isAccount: false,
    scopes: [
      { scope: 'applications:read', verb: 'read', label: 'Read applications and their settings' },
      { scope: 'applications:write', verb: 'change', label: 'Change applications and their settings' },
    ],
  },
  {
    name: 'Log',
    isAccount: false,
    scopes: [{ scope: 'logs:read', verb: 'read', label: 'Read the log, its stream, and metrics' }],
  },
  {
    name: 'Events',
    isAccount: false,
    scopes: [{ scope: 'events:read', verb: 'read', label: 'Read events' }],
  },
  {
    name: 'Webhooks',
    isAccount: true,
    scopes: [
      { scope: 'webhooks:read', verb: 'read', label: 'Read webhooks and deliveries' },
      {
        scope: 'webhooks:write',
        verb: 'change',
        label: 'Change webhooks; to create, change or replay one, also choose "Read events"',
      },
    ],
  },
  {
    name: 'Account',
    isAccount: true,
    scopes: [
      { scope: 'account:read', verb: 'read', label: 'Read the profile, the settings and API keys' },
      {
        scope: 'account:write',
        verb: 'change',
        label: 'Change the profile, the settings and API keys; delete the account with its password',
      },
    ],
  },
];

/** The groups that a key can have: a key for one application has none about the account. */
export const groupsOf = (applicationId: string | null | undefined): readonly ScopeGroup[] =>
  scopeGroups.filter(({ isAccount }) => !isAccount || !applicationId);

export const allScopes = (applicationId: string | null | undefined): readonly string[] =>
  groupsOf(applicationId).flatMap(({ scopes }) => scopes.map(({ scope }) => scope));

export const readScopes = (applicationId: string | null | undefined): readonly string[] =>
  allScopes(applicationId).filter((scope) => scope.endsWith(':read'));

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && others.every((scope) => some.includes(scope));

export type Access = 'everything' | 'read' | 'chosen';

/** Which of the three ways of the form gives these scopes. */
export function accessOf(scopes: readonly string[], applicationId: string | null | undefined): Access {
  if (isSame(scopes, allScopes(applicationId))) return 'everything';
  return isSame(scopes, readScopes(applicationId)) ? 'read' : 'chosen';
}

/** Such as "Everything", "Read only" or "Licenses (read, mint), users (read)". */
export function scopesInWords(scopes: readonly string[], applicationId: string | null | undefined): string {
  const access = accessOf(scopes, applicationId);
  if (access === 'everything') return 'Everything';
  if (access === 'read') return 'Read only';
  const known = scopeGroups.flatMap((group) => {
    const verbs = group.scopes.filter(({ scope }) => scopes.includes(scope)).map(({ verb }) => verb);
    return verbs.length === 0 ? [] : [`${group.name.toLowerCase()} (${verbs.join(', ')})`];
  });
  const text = known.join(', ');
  return text === '' ? 'Nothing' : text.charAt(0).toUpperCase() + text.slice(1);
}
