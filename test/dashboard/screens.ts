import type { FullAccount } from '../graphql/full-account.ts';

/** Every screen of a developer who is signed in, as a path below `/app/`, with the account's ids. */
export function screensOf({ ids }: Pick<FullAccount, 'ids'>): Readonly<Record<string, string>> {
  const application = `applications/${ids.application}`;
  return {
    overview: '',
    applications: 'applications',
    'new application': 'applications/new',
    licenses: `${application}/licenses`,
    'filtered licenses': `${application}/licenses?status=["active"]&q=nothing-like-this`,
    license: `${application}/licenses/${ids.license}`,
    'suspended license': `${application}/licenses/${ids.suspendedLicense}`,
    'banned license': `${application}/licenses/${ids.bannedLicense}`,
    mint: `${application}/mint`,
    users: `${application}/users`,
    user: `${application}/users/${ids.user}`,
    policies: `${application}/policies`,
    'new policy': `${application}/policies/new`,
    policy: `${application}/policies/${ids.policy}`,
    bans: `${application}/bans`,
    log: `${application}/log`,
    sdk: `${application}/sdk`,
    settings: `${application}/settings`,
    'API keys': 'account/api-keys',
    webhooks: 'account/webhooks',
    webhook: `account/webhooks/${ids.webhook}`,
    security: 'account/security',
    'key creation': 'account/keys',
    'account log': 'account/log',
    'not found': 'nothing/here',
  };
}
