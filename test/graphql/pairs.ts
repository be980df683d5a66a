import { randomBytes } from 'node:crypto';
import { deviceRequestOf } from '../setup/device-request.ts';
import type { FullAccount, Ids } from './full-account.ts';

/** What an example is about: a developer's world, and ids of it or of something else. */
export interface Subject {
  readonly world: FullAccount;
  readonly ids: Ids;
}

type Members = Readonly<Record<string, unknown>>;

/** A wrong input: members of the body that differ from the good one's, or ids. */
export interface WrongInput {
  readonly body?: Members;
  /** Instead of the good body, and not beside it. */
  readonly whole?: Members;
  readonly ids?: Partial<Ids>;
  readonly code: string;
}

/** An operation of REST, and the field of GraphQL that does the same. */
export interface Pair {
  readonly rest: string;
  /** `Type.field`. */
  readonly graphql: string;
  /** What the field's document is, where its type is not one of the roots. */
  readonly document?: string;
  /** What both name, under its name in GraphQL. */
  readonly ids?: (ids: Ids) => Readonly<Record<string, string>>;
  /** The body, or the query string, of REST. */
  readonly body?: (subject: Subject) => Members;
  /** GraphQL's spelling of the same, where it has another. */
  readonly spell?: (members: Members) => Members;
  /** Ids of other things, for an example that is to succeed after those before it. */
  readonly about?: (world: FullAccount) => Partial<Ids>;
  readonly wrong?: (subject: { world: FullAccount; other: FullAccount }) => readonly WrongInput[];
}

const invalid = (...bodies: Members[]): WrongInput[] =>
  bodies.map((body) => ({ body, code: 'VALIDATION_FAILED' }));
const wrongPassword: WrongInput = { body: { password: 'not the password' }, code: 'INVALID_CREDENTIALS' };
const [salt, check, blindHash] = [randomBytes(16), randomBytes(32), randomBytes(32)];
const password = ({ world }: Subject) => world.developer.password;

const ofApplication = (ids: Ids) => ({ id: ids.application });
const inApplication = (ids: Ids) => ({ applicationId: ids.application });
const ofLicense = (ids: Ids) => ({ id: ids.license });

const listOf = (field: string) =>
  `query ($id: ID!, $first: Int, $after: String, $q: String) {
    application(id: $id) { ${field}(first: $first, after: $after, q: $q) { edges { node { id } } } } }`;
/** `limit` and `cursor` of REST are `first` and `after` of a connection. */
const asConnection = ({ limit, cursor, ...rest }: Members) => ({ first: limit, after: cursor, ...rest });
const page = {
  ids: ofApplication,
  body: () => ({ limit: 2 }),
  spell: asConnection,
  wrong: () =>
    invalid({ limit: 0 }, { limit: 201 }, { cursor: 'garbage' }, { q: 'a'.repeat(201) }, { q: 'a\0b' }),
};

const blindKey = {
  licenseKeyHash: blindHash.toString('hex'),
  licenseKeyPrefix: 'BLIND',
  durationSeconds: 60,
  noteCiphertextB64: salt.toString('base64'),
};

const tier = {
  graphql: 'Mutation.setLicenseTier',
  ids: ofLicense,
  body: () => ({ subscriptionTier: 3 }),
  wrong: () => invalid({ subscriptionTier: -1 }),
};

/** The dashboard's operations, in an order in which each succeeds after those before it. */
export const pairs: readonly Pair[] = [
  {
    rest: 'getCurrentDeveloper',
    graphql: 'Query.me',
    document: '{ me { id email name keyCreationMode licenseMask createdAt } }',
  },
  { rest: 'getMetrics', graphql: 'Query.metrics' },
  {
    rest: 'listApplications',
    graphql: 'Developer.applications',
    document: '{ me { applications(first: 200) { edges { node { id } } } } }',
  },
  {
    rest: 'getApplication',
    graphql: 'Query.application',
    ids: ofApplication,
    document: `query ($id: ID!) { application(id: $id) { id name version status hwidLockEnabled publicKeyB64
      requireLicenseToRegister registrationEnabled protocol leasesEnabled leaseDays responseMessages { key text } createdAt updatedAt } }`,
  },
  { rest: 'listLicenses', graphql: 'Application.licenses', document: listOf('licenses'), ...page },
  { rest: 'listEndUsers', graphql: 'Application.users', document: listOf('users'), ...page },
  { rest: 'listSecurityLog', graphql: 'Application.securityLog', document: listOf('securityLog'), ...page },
  {
    rest: 'listBans',
    graphql: 'Application.bans',
    ids: ofApplication,
    document: 'query ($id: ID!) { application(id: $id) { bans(first: 200) { edges { node { id } } } } }',
  },
  {
    rest: 'listApiKeys',
    graphql: 'Account.apiKeys',
    document: '{ me { account { apiKeys(first: 200) { edges { node { id } } } } } }',
  },
  { rest: 'exportEndUsers', graphql: 'Query.endUserExport', ids: inApplication },
  {
    rest: 'registerDeveloper',
    graphql: 'Mutation.register',
    body: ({ world }) => ({
      email: `new.${world.mark}@example.com`,
      name: 'Alan',
      password: 'a good long password',
    }),
    wrong: ({ other }) => [
      ...invalid({ email: 'x' }, { password: 'short' }, { password: 'a'.repeat(129) }, { name: '' }),
      ...invalid({ name: ' ' }, { name: 'a\0b' }, { name: 'a\ud800' }, { email: '', password: '', name: '' }),
      { body: { email: other.developer.email }, code: 'EMAIL_TAKEN' },
    ],
  },
  {
    rest: 'loginDeveloper',
    graphql: 'Mutation.login',
    body: ({ world }) => ({ email: world.developer.email, password: world.developer.password }),
    wrong: () => [
      ...invalid({ password: '' }, { password: 'a'.repeat(1025) }, { password: 'a\0' }),
      wrongPassword,
      { body: { email: 'x' }, code: 'INVALID_CREDENTIALS' },
      { body: { email: 'nobody@example.com' }, code: 'INVALID_CREDENTIALS' },
    ],
  },
  { rest: 'logoutDeveloper', graphql: 'Mutation.logout' },
  {
    rest: 'createApplication',
    graphql: 'Mutation.createApplication',
    body: () => ({ name: 'Another', version: '7' }),
    wrong: () =>
      invalid(
        { name: '' },
        { name: 'a'.repeat(101) },
        { name: 'a\0' },
        { version: '' },
        { version: '\ud800' },
      ),
  },
  {
    rest: 'updateApplicationSettings',
    graphql: 'Mutation.updateApplicationSettings',
    ids: ofApplication,
    body: () => ({
      version: '2',
      hwidLockEnabled: true,
      registrationEnabled: false,
      leasesEnabled: true,
      leaseDays: 14,
      responseMessages: { BANNED: 'No.' },
    }),
    spell: ({ responseMessages, ...rest }) => ({
      ...rest,
      ...(responseMessages !== undefined && {
        responseMessages: Object.entries(responseMessages ?? {}).map(([key, text]) => ({ key, text })),
      }),
    }),
    wrong: () => [
      ...invalid({ version: '' }, { version: 'a\0' }, { responseMessages: { OK: '' } }),
      ...invalid({ responseMessages: { OK: 'a'.repeat(501) } }),
      { whole: {}, code: 'VALIDATION_FAILED' },
    ],
  },
  {
    rest: 'createLicenses',
    graphql: 'Mutation.createLicenses',
    document: 'mutation ($input: CreateLicensesInput!) { createLicenses(input: $input) { warning } }',
    body: ({ ids }) => ({
      applicationId: ids.application,
      amount: 2,
      durationSeconds: 60,
      subscriptionTier: 1,
      note: 'two',
      mask: 'AB-XXXXXXXXXXXXXXXX',
    }),
    wrong: ({ other }) => [
      ...invalid({ amount: 0 }, { amount: 10_001 }, { durationSeconds: -1 }, { subscriptionTier: -1 }),
      ...invalid({ mask: 'X' }, { mask: '' }, { note: '' }, { note: 'a\0' }, { applicationId: 'garbage' }),
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
    ],
  },
  {
    rest: 'createBlindLicenses',
    graphql: 'Mutation.createBlindLicenses',
    body: ({ world, ids }) => ({
      applicationId: ids.application,
      subscriptionTier: 2,
      keys: [
        { ...blindKey, licenseKeyHash: `${world.mark}${blindKey.licenseKeyHash.slice(world.mark.length)}` },
      ],
    }),
    wrong: ({ other }) => [
      ...invalid({ keys: [] }, { keys: [{ ...blindKey, licenseKeyHash: 'zz' }] }, { mask: 'X' }),
      ...invalid({ keys: [blindKey, { ...blindKey, licenseKeyPrefix: '' }] }, { subscriptionTier: -1 }),
      ...invalid({ keys: [{ ...blindKey, noteCiphertextB64: '!' }] }, { applicationId: 'garbage' }),
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
      { body: { keys: [blindKey, blindKey] }, code: 'KEY_EXISTS' },
    ],
  },
  {
    rest: 'extendLicenses',
    graphql: 'Mutation.extendLicenses',
    ids: inApplication,
    body: () => ({ seconds: 3_600 }),
    wrong: () => invalid({ seconds: 0 }, { seconds: -5 }, { seconds: 315_619_201 }),
  },
  { rest: 'setLicenseTier', ...tier },
  { rest: 'setLicenseTierByPost', ...tier },
  {
    rest: 'createEndUser',
    graphql: 'Mutation.createEndUser',
    ids: inApplication,
    body: ({ world }) => ({
      username: 'alan',
      password: 'a user password',
      email: 'alan@example.com',
      licenseKey: world.licenses.unused.licenseKey,
    }),
    wrong: ({ world, other }) => [
      ...invalid({ username: 'ab' }, { username: 'a b c' }, { password: 'short' }, { email: 'x' }),
      ...invalid({ licenseKey: '' }, { password: 'a user password\0' }),
      { body: { licenseKey: 'no such key' }, code: 'LICENSE_NOT_FOUND' },
      { body: { licenseKey: other.licenses.unused.licenseKey }, code: 'APP_MISMATCH' },
      { body: { licenseKey: world.licenses.banned.licenseKey }, code: 'BANNED' },
      { body: { licenseKey: world.licenses.expired.licenseKey }, code: 'EXPIRED' },
      { body: { username: `grace.${world.mark}` }, code: 'USERNAME_TAKEN' },
    ],
  },
  {
    rest: 'resetLicenseHwid',
    graphql: 'Mutation.resetLicenseHwid',
    ids: ofLicense,
    about: ({ licenses }) => ({ license: licenses.expired.id }),
    wrong: ({ world }) => [
      { ids: { license: world.licenses.unused.id }, code: 'HWID_NOT_SET' },
      { ids: { license: world.licenses.banned.id }, code: 'LICENSE_BANNED' },
    ],
  },
  {
    rest: 'resetEndUserHwid',
    graphql: 'Mutation.resetEndUserHwid',
    ids: ({ application, user }) => ({ applicationId: application, userId: user }),
  },
  {
    rest: 'issueOfflineLease',
    graphql: 'Mutation.issueOfflineLease',
    ids: ofLicense,
    body: ({ world }) => ({
      deviceRequest: deviceRequestOf(world.application.id, 'another device'),
      days: 3,
    }),
    about: ({ licenses }) => ({ license: licenses.unused.id }),
    wrong: ({ world, other }) => {
      const request = (device: string, of = world) => ({
        deviceRequest: deviceRequestOf(of.application.id, device),
      });
      const { active, banned, expired } = world.licenses;
      return [
        ...invalid({ days: 0 }, { days: 31 }, { deviceRequest: 'LKQ2.' }),
        { body: request('device', other), code: 'APP_MISMATCH' },
        { body: request('device'), ids: { license: banned.id }, code: 'BANNED' },
        { body: request('device'), ids: { license: expired.id }, code: 'EXPIRED' },
        { body: request('device'), ids: { license: active.id }, code: 'HWID_MISMATCH' },
        {
          body: request(`another device ${world.mark}`),
          ids: { license: world.licenses.unused.id },
          code: 'HWID_BANNED',
        },
      ];
    },
  },
  {
    rest: 'banLicense',
    graphql: 'Mutation.banLicense',
    ids: ofLicense,
    body: () => ({ scope: 'hwid_and_ip', ip: '203.0.113.9' }),
    wrong: ({ world }) => [
      ...invalid({ ip: 'nowhere' }, { ip: '' }),
      { ids: { license: world.licenses.unused.id }, whole: { scope: 'hwid' }, code: 'HWID_NOT_SET' },
      { ids: { license: world.licenses.unused.id }, whole: { scope: 'hwid_and_ip' }, code: 'IP_NOT_KNOWN' },
    ],
  },
  {
    rest: 'deleteBan',
    graphql: 'Mutation.deleteBan',
    ids: ({ application, ban }) => ({ applicationId: application, banId: ban }),
  },
  {
    rest: 'deleteEndUser',
    graphql: 'Mutation.deleteEndUser',
    ids: ({ application, user }) => ({ applicationId: application, userId: user }),
  },
  { rest: 'deleteLicense', graphql: 'Mutation.deleteLicense', ids: ofLicense },
  {
    rest: 'createApiKey',
    graphql: 'Mutation.createApiKey',
    body: () => ({ name: 'for ci' }),
    wrong: () => invalid({ name: '' }, { name: ' ' }, { name: 'a'.repeat(101) }, { name: '\0' }),
  },
  { rest: 'revokeApiKey', graphql: 'Mutation.revokeApiKey', ids: ({ key }) => ({ id: key }) },
  {
    rest: 'setLicenseMask',
    graphql: 'Mutation.setLicenseMask',
    body: () => ({ mask: 'NEW-XXXXXXXXXXXXX' }),
    wrong: () => invalid({ mask: 'X' }, { mask: '' }, { mask: 'XXXXXXXXXXXXXXXX\0' }),
  },
  {
    rest: 'setVault',
    graphql: 'Mutation.setVault',
    body: (subject) => ({
      vaultSaltB64: salt.toString('base64'),
      vaultCheckB64: check.toString('base64'),
      password: password(subject),
    }),
    wrong: () => [
      ...invalid({ vaultSaltB64: '!' }, { vaultSaltB64: 'AAAA' }, { vaultCheckB64: '' }, { password: '' }),
      wrongPassword,
    ],
  },
  {
    rest: 'setKeyCreationMode',
    graphql: 'Mutation.setKeyCreationMode',
    body: (subject) => ({ mode: 'private', password: password(subject) }),
    wrong: () => [...invalid({ password: '' }), wrongPassword],
  },
  {
    rest: 'updateProfile',
    graphql: 'Mutation.updateProfile',
    body: (subject) => ({ name: 'Grace', password: password(subject) }),
    wrong: ({ other }) => [
      ...invalid({ name: '' }, { email: 'x' }, { newPassword: 'short' }, { name: '\0', email: '' }),
      wrongPassword,
      { body: { email: other.developer.email }, code: 'EMAIL_TAKEN' },
    ],
  },
  { rest: 'exportAccount', graphql: 'Query.accountExport' },
  { rest: 'deleteApplication', graphql: 'Mutation.deleteApplication', ids: ofApplication },
  {
    rest: 'deleteAccount',
    graphql: 'Mutation.deleteAccount',
    body: (subject) => ({ confirm: 'DELETE', password: password(subject) }),
    wrong: () => [...invalid({ confirm: 'delete' }, { confirm: '' }, { password: '' }), wrongPassword],
  },
];

/** The operations of client software: the sealed protocol alone has them. */
export const clientOperations = [
  'initSession',
  'validateLicense',
  'registerEndUser',
  'loginEndUser',
  'upgradeEndUser',
] as const;

/** The fields that GraphQL has and REST has not, with the reason. */
export const graphqlAlone: Readonly<Record<string, string>> = {
  'Query.license': 'a screen of one license; REST has it in the list of its application',
  'Query.endUser': 'a screen of one end user; REST has it in the list of its application',
  'Query.node': 'Relay clients fetch anything again by its id alone',
  'Subscription.securityLog': 'REST has no live data',
};
