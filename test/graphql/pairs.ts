import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../../src/lib/ids.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { knownRecoveryCode, knownTotpCode, seedPendingTotp, seedTotp } from '../setup/second-factor.ts';
import type { TestServer } from '../setup/server.ts';
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
  /** Brings the developer's account into the state in which the body succeeds. */
  readonly prepare?: (server: TestServer, developerId: string) => Promise<void>;
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
const ofDevice = (ids: Ids) => ({ licenseId: ids.license, deviceId: ids.device });

const ofPolicy = (ids: Ids) => ({ applicationId: ids.application, policyId: ids.policy });

const ofWebhook = (ids: Ids) => ({ id: ids.webhook });
const wrongUrl = invalid({ url: 'http://example.com/' }, { url: 'https://127.0.0.1/' }, { types: ['no.*'] });

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

/** What a license grants besides its duration. */
const terms = {
  subscriptionTier: 1,
  deviceLimit: 3,
  selfService: 'key',
  moves: { count: 2, periodSeconds: 86_400 },
  cooldownSeconds: 60,
  releaseIdleAfterSeconds: null,
  graceSeconds: 120,
  leaseSeconds: 3_600,
  entitlements: { 'export.pdf': true, seats: 5, channel: 'beta' },
  metadata: { client: { plan: 'team' }, private: { order: 7 } },
};

const wrongCidrs: readonly Members[] = [
  { allowedCidrs: ['192.0.2.1/24'] },
  { allowedCidrs: ['192.0.2.0/33'] },
  { allowedCidrs: ['anywhere'] },
  { allowedCidrs: Array.from({ length: 21 }, (_, index) => `192.0.2.${index}`) },
];

const wrongTerms: readonly Members[] = [
  { deviceLimit: 0 },
  { deviceLimit: 1001 },
  { moves: { count: 0, periodSeconds: 1 } },
  { moves: { count: 101, periodSeconds: 1 } },
  { cooldownSeconds: -1 },
  { releaseIdleAfterSeconds: 0 },
  { graceSeconds: -1 },
  { leaseSeconds: 3_599 },
  { leaseSeconds: 2_592_001 },
  { entitlements: { Seats: 1 } },
  { entitlements: { seats: 1.5 } },
  { entitlements: { seats: null } },
  { entitlements: { channel: 'a'.repeat(201) } },
  { entitlements: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`e${index}`, true])) },
  { metadata: { public: {} } },
  { metadata: { client: { a: [] } } },
];

const tier = {
  graphql: 'Mutation.setLicenseTier',
  ids: ofLicense,
  body: () => ({ subscriptionTier: 3 }),
  wrong: () => invalid({ subscriptionTier: -1 }),
};

/** A change of an account with TOTP. */
const proved = {
  body: (subject: Subject) => ({ password: password(subject), recoveryCode: knownRecoveryCode }),
  wrong: (): WrongInput[] => [
    ...invalid({ password: '' }, { totpCode: '1' }, { recoveryCode: 'a'.repeat(65) }),
    wrongPassword,
    { body: {}, code: 'INVALID_TRANSITION' },
  ],
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
    rest: 'getMetricsHistory',
    graphql: 'Query.metricsHistory',
    body: ({ ids }) => ({ period: 'week', applicationId: ids.application }),
    document: `query ($period: MetricsPeriod!, $applicationId: ID) {
      metricsHistory(period: $period, applicationId: $applicationId) { from to bucketSeconds
        validations { startsAt code count } activations { startsAt count } expiries { day count }
        licenses { total unused active suspended expired banned } } }`,
    wrong: ({ other }) => [
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
      { body: { applicationId: 'garbage' }, code: 'APP_NOT_FOUND' },
    ],
  },
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
  {
    rest: 'getSdkHint',
    graphql: 'Application.sdkHint',
    ids: ofApplication,
    document:
      'query ($id: ID!) { application(id: $id) { sdkHint { baseUrl appId version publicKeyB64 protocol snippet } } }',
  },
  {
    rest: 'getLicense',
    graphql: 'Query.license',
    ids: ofLicense,
    document: `query ($id: ID!) { license(id: $id) { id keyPrefix status subscriptionTier durationSeconds activatedAt
      expiresAt graceSeconds graceEndsAt suspendedAt suspensionReason clockStopped hwid deviceLimit deviceCount overLimit
      selfService moves { count periodSeconds } cooldownSeconds releaseIdleAfterSeconds leaseSeconds policyId entitlements
      metadata tags lastSeenAt lastIp note noteCiphertextB64 createdAt updatedAt application { id } } }`,
  },
  { rest: 'listLicenses', graphql: 'Application.licenses', document: listOf('licenses'), ...page },
  { rest: 'listPolicies', graphql: 'Application.policies', document: listOf('policies'), ...page },
  { rest: 'getPolicy', graphql: 'Query.policy', ids: ofPolicy },
  { rest: 'getWebhook', graphql: 'Query.webhook', ids: ofWebhook },
  {
    rest: 'listWebhooks',
    graphql: 'Account.webhooks',
    document:
      'query ($first: Int, $after: String) { me { account { webhooks(first: $first, after: $after) { edges { node { id } } } } } }',
    body: () => ({ limit: 2 }),
    spell: asConnection,
    wrong: () => invalid({ limit: 0 }, { limit: 201 }, { cursor: 'garbage' }),
  },
  {
    rest: 'listWebhookDeliveries',
    graphql: 'Webhook.deliveries',
    ids: ofWebhook,
    document:
      'query ($id: ID!, $first: Int, $after: String) { webhook(id: $id) { deliveries(first: $first, after: $after) { edges { node { id } } } } }',
    body: () => ({ limit: 2 }),
    spell: asConnection,
    wrong: () => invalid({ limit: 0 }, { limit: 201 }, { cursor: 'garbage' }),
  },
  { rest: 'listEndUsers', graphql: 'Application.users', document: listOf('users'), ...page },
  {
    rest: 'listEvents',
    graphql: 'Query.events',
    body: () => ({ limit: 2 }),
    spell: ({ limit, types, ...rest }) => ({
      first: limit,
      types: typeof types === 'string' ? types.split(',') : types,
      ...rest,
    }),
    wrong: () => [
      ...invalid(
        { limit: 0 },
        { limit: 201 },
        { after: 'garbage' },
        { types: 'license.none' },
        { applicationId: '' },
      ),
      { body: { after: newId() }, code: 'CURSOR_EXPIRED' },
    ],
  },
  { rest: 'listSecurityLog', graphql: 'Application.securityLog', document: listOf('securityLog'), ...page },
  {
    rest: 'listBans',
    graphql: 'Application.bans',
    ids: ofApplication,
    document: 'query ($id: ID!) { application(id: $id) { bans(first: 200) { edges { node { id } } } } }',
  },
  {
    rest: 'listDevices',
    graphql: 'License.devices',
    ids: ofLicense,
    document:
      'query ($id: ID!, $first: Int, $after: String) { license(id: $id) { devices(first: $first, after: $after) { edges { node { id } } } } }',
    body: () => ({ limit: 2 }),
    spell: asConnection,
    wrong: () => invalid({ limit: 0 }, { limit: 201 }, { cursor: 'garbage' }),
  },
  {
    rest: 'listApiKeys',
    graphql: 'Account.apiKeys',
    document: '{ me { account { apiKeys(first: 200) { edges { node { id } } } } } }',
  },
  {
    rest: 'listSessions',
    graphql: 'Account.sessions',
    document: '{ me { account { sessions(first: 200) { edges { node { id } } } } } }',
  },
  {
    rest: 'getAccountSecurity',
    graphql: 'Account.security',
    document: '{ me { account { security { totpEnabled recoveryCodesLeft requireConfirmation } } } }',
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
    rest: 'createPolicy',
    graphql: 'Mutation.createPolicy',
    ids: inApplication,
    body: () => ({ code: 'team', name: 'Team', ...terms, startsAt: 'creation', keyMask: 'T-XXXXXXXX' }),
    wrong: ({ world }) => [
      ...invalid(...wrongTerms, { code: 'Team' }, { code: '' }, { code: 'a'.repeat(65) }, { name: ' ' }),
      ...invalid({ keyMask: 'X' }, { durationSeconds: -1 }),
      { whole: { name: 'No code', code: '' }, code: 'VALIDATION_FAILED' },
      { body: { code: `pro.${world.mark}` }, code: 'POLICY_CODE_TAKEN' },
    ],
  },
  {
    rest: 'updatePolicy',
    graphql: 'Mutation.updatePolicy',
    ids: ofPolicy,
    body: () => ({ name: 'Pro', moves: null, releaseIdleAfterSeconds: 86_400, metadata: {} }),
    wrong: ({ world }) => [
      ...invalid(...wrongTerms, { code: 'Pro' }),
      { whole: {}, code: 'VALIDATION_FAILED' },
      { body: { code: `trial.${world.mark}` }, code: 'POLICY_CODE_TAKEN' },
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
      note: 'two',
      mask: 'AB-XXXXXXXXXXXXXXXX',
      policyId: ids.policy,
      ...terms,
      tags: ['a tag'],
    }),
    wrong: ({ other }) => [
      ...invalid(...wrongTerms, { tags: [''] }, { policyId: 'garbage' }),
      { body: { policyId: other.ids.policy }, code: 'POLICY_NOT_FOUND' },

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
      ...invalid(...wrongTerms, { keys: [{ ...blindKey, durationSeconds: undefined }] }),
      { body: { policyId: other.ids.policy }, code: 'POLICY_NOT_FOUND' },
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
  {
    rest: 'bulkLicenses',
    graphql: 'Mutation.bulkLicenses',
    ids: inApplication,
    body: ({ ids }) => ({ action: 'addTags', ids: [ids.license], params: { tags: ['bulk'] } }),
    wrong: () => [
      ...invalid({ params: {} }, { params: { tags: [] } }, { params: { tags: ['a'], seconds: 1 } }),
      ...invalid({ filter: {} }, { ids: [] }, { ids: [''] }),
      {
        whole: {
          action: 'addTags',
          ids: Array.from({ length: 10_001 }, (_, index) => `${index}`),
          params: { tags: ['bulk'] },
        },
        code: 'TOO_MANY',
      },
    ],
  },
  { rest: 'setLicenseTier', ...tier },
  { rest: 'setLicenseTierByPost', ...tier },
  {
    rest: 'updateLicense',
    graphql: 'Mutation.updateLicense',
    ids: ofLicense,
    body: () => ({
      deviceLimit: 3,
      selfService: 'account',
      moves: { count: 2, periodSeconds: 3_600 },
      cooldownSeconds: 60,
      releaseIdleAfterSeconds: null,
      graceSeconds: 3_600,
      leaseSeconds: 7_200,
      entitlements: { 'export.pdf': true, seats: 5, channel: 'beta' },
      metadata: { client: { color: 'red' }, private: { order: '17' } },
      tags: ['one', 'two'],
      note: null,
      expiresAt: '2099-01-01T00:00:00.000Z',
    }),
    wrong: ({ world }) => [
      ...invalid({ deviceLimit: 0 }, { deviceLimit: 1_001 }, { note: '' }, { note: 'a'.repeat(1_001) }),
      ...invalid({ moves: { count: 0, periodSeconds: 1 } }, { graceSeconds: -1 }, { leaseSeconds: 3_599 }),
      ...invalid({ entitlements: { 'A b': true } }, { entitlements: { a: null } }, { tags: [''] }),
      ...invalid({ metadata: { client: { a: null } } }, { noteCiphertextB64: '!' }),
      ...invalid({ releaseIdleAfterSeconds: 0 }, { expiresAt: '9999-12-31T23:59:59.001Z' }),
      { whole: {}, code: 'VALIDATION_FAILED' },
      { ids: { license: world.licenses.unused.id }, code: 'INVALID_TRANSITION' },
    ],
  },
  {
    rest: 'renewLicense',
    graphql: 'Mutation.renewLicense',
    ids: ofLicense,
    body: () => ({ seconds: 3_600, basis: 'from_now' }),
    wrong: ({ world }) => [
      ...invalid({ seconds: 0 }, { seconds: -1 }),
      { ids: { license: world.licenses.banned.id }, code: 'INVALID_TRANSITION' },
    ],
  },
  {
    rest: 'suspendLicense',
    graphql: 'Mutation.suspendLicense',
    ids: ofLicense,
    body: () => ({ reason: 'unpaid' }),
    wrong: ({ world }) => [
      ...invalid({ reason: '' }, { reason: 'a'.repeat(201) }, { reason: 'a\0' }),
      { ids: { license: world.licenses.banned.id }, code: 'INVALID_TRANSITION' },
    ],
  },
  {
    rest: 'reinstateLicense',
    graphql: 'Mutation.reinstateLicense',
    ids: ofLicense,
    wrong: ({ world }) => [
      { ids: { license: world.licenses.active.id }, code: 'INVALID_TRANSITION' },
      { ids: { license: world.licenses.banned.id }, code: 'INVALID_TRANSITION' },
    ],
  },
  {
    rest: 'rotateLicenseKey',
    graphql: 'Mutation.rotateLicenseKey',
    document:
      'mutation ($input: RotateLicenseKeyInput!) { rotateLicenseKey(input: $input) { license { id } } }',
    ids: ofLicense,
    about: ({ licenses }) => ({ license: licenses.expired.id }),
    body: () => ({ overlapSeconds: 60 }),
    wrong: ({ world }) => {
      const key = createHash('sha256').update(world.licenses.unused.licenseKey).digest('hex');
      return [
        ...invalid({ overlapSeconds: -1 }, { overlapSeconds: 2_592_001 }, { mask: 'X' }),
        ...invalid({ licenseKeyHash: key }, { licenseKeyPrefix: 'A' }),
        ...invalid({ licenseKeyHash: key, licenseKeyPrefix: world.licenses.unused.licenseKey }),
        { body: { licenseKeyHash: key, licenseKeyPrefix: 'A' }, code: 'KEY_EXISTS' },
      ];
    },
  },
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
    rest: 'renameDevice',
    graphql: 'Mutation.renameDevice',
    ids: ofDevice,
    body: () => ({ name: 'Office' }),
    wrong: () => invalid({ name: '' }, { name: ' ' }, { name: 'a'.repeat(65) }, { name: 'a\0' }),
  },
  { rest: 'releaseDevice', graphql: 'Mutation.releaseDevice', ids: ofDevice },
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
    rest: 'explainLicense',
    graphql: 'Query.explainLicense',
    body: ({ ids }) => ({
      applicationId: ids.application,
      licenseId: ids.license,
      ip: '192.0.2.7',
      protocol: 2,
    }),
    about: ({ licenses }) => ({ license: licenses.unused.id }),
    wrong: ({ other }) => [
      ...invalid(
        { applicationId: undefined },
        { licenseId: undefined },
        { licenseKey: 'both' },
        { ip: 'nowhere' },
      ),
      ...invalid({ protocol: 3 }, { hwid: '' }, { version: 'v'.repeat(65) }),
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
      { body: { licenseId: other.ids.license }, code: 'LICENSE_NOT_FOUND' },
      { body: { logEntryId: other.ids.license }, code: 'LOG_ENTRY_NOT_FOUND' },
    ],
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
    rest: 'unbanLicense',
    graphql: 'Mutation.unbanLicense',
    ids: ofLicense,
    body: () => ({ removeBans: true }),
    wrong: ({ world }) => [{ ids: { license: world.licenses.unused.id }, code: 'INVALID_TRANSITION' }],
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
    rest: 'applyPolicy',
    graphql: 'Mutation.applyPolicy',
    ids: ofPolicy,
    body: () => ({ dryRun: false }),
    wrong: ({ world }) => invalid({ ids: [] }, { ids: [world.ids.license], filter: {} }),
  },
  { rest: 'deletePolicy', graphql: 'Mutation.deletePolicy', ids: ofPolicy },
  {
    rest: 'createApiKey',
    graphql: 'Mutation.createApiKey',
    body: ({ ids }) => ({
      name: 'for ci',
      scopes: ['licenses:read', 'users:*'],
      applicationId: ids.application,
      allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    }),
    wrong: ({ other }) => [
      ...invalid({ name: '' }, { name: ' ' }, { name: 'a'.repeat(101) }, { name: '\0' }),
      ...invalid({ scopes: [] }, { scopes: ['licenses:*'] }, { scopes: ['*'] }, { applicationId: 'garbage' }),
      ...invalid(...wrongCidrs, { expiresAt: '2001-01-01T00:00:00.000Z' }),
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
    ],
  },
  {
    rest: 'updateApiKey',
    graphql: 'Mutation.updateApiKey',
    ids: ({ key }) => ({ id: key }),
    body: () => ({
      name: 'renamed',
      scopes: ['logs:read'],
      allowedCidrs: ['192.0.2.7'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    }),
    wrong: () => [
      ...invalid({ name: '' }, { scopes: [] }, { scopes: ['nothing'] }, ...wrongCidrs),
      ...invalid({ expiresAt: '2001-01-01T00:00:00.000Z' }),
      { whole: {}, code: 'VALIDATION_FAILED' },
    ],
  },
  {
    rest: 'rotateApiKey',
    graphql: 'Mutation.rotateApiKey',
    document: 'mutation ($input: RotateApiKeyInput!) { rotateApiKey(input: $input) { key { id } warning } }',
    ids: ({ key }) => ({ id: key }),
    body: () => ({ overlapSeconds: 60 }),
    wrong: () => invalid({ overlapSeconds: -1 }, { overlapSeconds: 604_801 }),
  },
  {
    rest: 'createWebhook',
    graphql: 'Mutation.createWebhook',
    body: ({ ids }) => ({
      url: 'https://hooks.example.com/more',
      types: ['license.*', 'device.moved'],
      applicationId: ids.application,
      description: 'More',
    }),
    wrong: ({ other }) => [
      ...wrongUrl,
      ...invalid({ types: [] }, { description: '\0' }, { url: '' }),
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
    ],
  },
  {
    rest: 'updateWebhook',
    graphql: 'Mutation.updateWebhook',
    ids: ofWebhook,
    body: () => ({ description: 'Changed', enabled: true }),
    wrong: ({ other }) => [
      ...wrongUrl,
      { whole: {}, code: 'VALIDATION_FAILED' },
      { body: { applicationId: other.ids.application }, code: 'APP_NOT_FOUND' },
    ],
  },
  { rest: 'testWebhook', graphql: 'Mutation.testWebhook', ids: ofWebhook },
  { rest: 'rotateWebhookSecret', graphql: 'Mutation.rotateWebhookSecret', ids: ofWebhook },
  {
    rest: 'replayWebhook',
    graphql: 'Mutation.replayWebhook',
    ids: ofWebhook,
    body: () => ({ from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }),
    wrong: () => invalid({ to: '2026-01-01T00:00:00.000Z' }),
  },
  {
    rest: 'redeliverWebhookDelivery',
    graphql: 'Mutation.redeliverWebhookDelivery',
    ids: (ids) => ({ webhookId: ids.webhook, deliveryId: ids.delivery }),
  },
  { rest: 'deleteWebhook', graphql: 'Mutation.deleteWebhook', ids: ofWebhook },
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
  {
    rest: 'beginTotp',
    graphql: 'Mutation.beginTotp',
    body: (subject) => ({ password: password(subject) }),
    wrong: () => [...invalid({ password: '' }), wrongPassword],
  },
  {
    rest: 'confirmTotp',
    graphql: 'Mutation.confirmTotp',
    prepare: seedPendingTotp,
    body: () => ({ totpCode: knownTotpCode() }),
    wrong: () => [
      ...invalid({ totpCode: '' }, { totpCode: '12345' }, { totpCode: '12345a' }),
      { body: {}, code: 'INVALID_TRANSITION' },
    ],
  },
  {
    rest: 'renewRecoveryCodes',
    graphql: 'Mutation.renewRecoveryCodes',
    prepare: seedTotp,
    ...proved,
  },
  { rest: 'disableTotp', graphql: 'Mutation.disableTotp', prepare: seedTotp, ...proved },
  {
    rest: 'confirmSession',
    graphql: 'Mutation.confirmSession',
    body: (subject) => ({ password: password(subject) }),
    wrong: () => [...invalid({ password: '' }, { totpCode: '1' }, { recoveryCode: '' }), wrongPassword],
  },
  {
    rest: 'setRequireConfirmation',
    graphql: 'Mutation.setRequireConfirmation',
    body: (subject) => ({ requireConfirmation: true, password: password(subject) }),
    wrong: () => [...invalid({ password: '' }), wrongPassword],
  },
  { rest: 'revokeSession', graphql: 'Mutation.revokeSession', ids: ({ session }) => ({ id: session }) },
  { rest: 'revokeOtherSessions', graphql: 'Mutation.revokeOtherSessions' },
  { rest: 'exportAccount', graphql: 'Query.accountExport' },
  { rest: 'deleteApplication', graphql: 'Mutation.deleteApplication', ids: ofApplication },
  {
    rest: 'deleteAccount',
    graphql: 'Mutation.deleteAccount',
    body: (subject) => ({ confirm: 'DELETE', password: password(subject) }),
    wrong: () => [...invalid({ confirm: 'delete' }, { confirm: '' }, { password: '' }), wrongPassword],
  },
  { rest: 'logoutDeveloper', graphql: 'Mutation.logout' },
];

/** The operations of client software: the sealed protocol alone has them. */
export const clientOperations = [
  'initSession',
  'validateLicense',
  'registerEndUser',
  'loginEndUser',
  'upgradeEndUser',
  'listOwnDevices',
  'releaseOwnDevice',
  'moveOwnDevice',
] as const;

/** The fields that GraphQL has and REST has not, with the reason. */
export const graphqlAlone: Readonly<Record<string, string>> = {
  'Query.endUser': 'a screen of one end user; REST has it in the list of its application',
  'Query.node': 'Relay clients fetch anything again by its id alone',
  'Subscription.securityLog': 'REST has no live data',
  'Subscription.events': 'REST has no live data, but pages that wait',
};
