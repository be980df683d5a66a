import { randomBytes } from 'node:crypto';
import { knownRecoveryCode, knownTotpCode, seedPendingTotp, seedTotp } from '../setup/second-factor.ts';
import type { TestServer } from '../setup/server.ts';
import type { Ids } from './full-account.ts';

/** A field at the root of the schema, and how to ask for it. */
export interface RootField {
  /** `Query.license`, or `Query.node on License` where the field can be of several types. */
  readonly field: string;
  /** Variables that succeed for whoever has these ids and this password. */
  readonly variables: (ids: Ids, password: string) => Record<string, unknown>;
  /** The ids that it names, and the code for one that names nothing; null where that is no error. */
  readonly ids?: readonly (readonly [keyof Ids, string | null])[];
  /** What it names is gone afterwards, or not as it was: it succeeds once. */
  readonly once?: true;
  /** API keys are refused. */
  readonly sessionOnly?: true;
  /** Brings the developer's account into the state in which the variables succeed. */
  readonly prepare?: (server: TestServer, developerId: string) => Promise<void>;
  /** Anyone may ask. */
  readonly isOpen?: true;
}

const base64 = (bytes: number) => randomBytes(bytes).toString('base64');
const application = ['application', 'APP_NOT_FOUND'] as const;
const license = ['license', 'LICENSE_NOT_FOUND'] as const;
const device = ['device', 'DEVICE_NOT_FOUND'] as const;
const policy = ['policy', 'POLICY_NOT_FOUND'] as const;
const webhook = ['webhook', 'WEBHOOK_NOT_FOUND'] as const;
const user = ['user', 'USER_NOT_FOUND'] as const;

/** `node` of one kind of thing. */
function nodes(kind: keyof Ids, type: string): readonly RootField[] {
  return [{ field: `Query.node on ${type}`, ids: [[kind, null]], variables: (ids) => ({ id: ids[kind] }) }];
}

/** Every query, mutation and subscription. */
export const fields: readonly RootField[] = [
  { field: 'Query.me', variables: () => ({}) },
  { field: 'Query.metrics', variables: () => ({}) },
  {
    field: 'Query.metricsHistory',
    ids: [application],
    variables: (ids) => ({ period: 'day', applicationId: ids.application }),
  },
  { field: 'Query.events', variables: () => ({ first: 5 }) },
  { field: 'Query.accountExport', variables: () => ({}) },
  { field: 'Query.application', ids: [application], variables: (ids) => ({ id: ids.application }) },
  { field: 'Query.license', ids: [license], variables: (ids) => ({ id: ids.license }) },
  { field: 'Query.endUser', ids: [user], variables: (ids) => ({ id: ids.user }) },
  {
    field: 'Query.policy',
    ids: [application, policy],
    variables: (ids) => ({ applicationId: ids.application, policyId: ids.policy }),
  },
  ...nodes('policy', 'Policy'),
  ...nodes('application', 'Application'),
  ...nodes('license', 'License'),
  ...nodes('user', 'EndUser'),
  ...nodes('device', 'Device'),
  ...nodes('ban', 'Ban'),
  ...nodes('key', 'ApiKey'),
  ...nodes('session', 'AccountSession'),
  { field: 'Query.webhook', ids: [webhook], variables: (ids) => ({ id: ids.webhook }) },
  ...nodes('webhook', 'Webhook'),
  ...nodes('delivery', 'WebhookDelivery'),
  {
    field: 'Query.endUserExport',
    ids: [application],
    variables: (ids) => ({ applicationId: ids.application }),
  },
  {
    field: 'Mutation.register',
    isOpen: true,
    variables: (_ids, password) => ({
      input: { email: `${randomBytes(8).toString('hex')}@example.com`, name: 'Ada', password },
    }),
  },
  {
    field: 'Mutation.login',
    isOpen: true,
    variables: (_ids, password) => ({ input: { email: 'nobody@example.com', password } }),
  },
  { field: 'Mutation.logout', isOpen: true, variables: () => ({}) },
  { field: 'Mutation.createApplication', variables: () => ({ input: { name: 'Another' } }) },
  {
    field: 'Mutation.updateApplicationSettings',
    ids: [application],
    variables: (ids) => ({ input: { id: ids.application, version: '2' } }),
  },
  {
    field: 'Mutation.deleteApplication',
    once: true,
    ids: [application],
    variables: (ids) => ({ input: { id: ids.application } }),
  },
  {
    field: 'Mutation.createPolicy',
    ids: [application],
    variables: (ids) => ({
      input: { applicationId: ids.application, code: randomBytes(8).toString('hex'), name: 'Team' },
    }),
  },
  {
    field: 'Mutation.updatePolicy',
    ids: [application, policy],
    variables: (ids) => ({
      input: { applicationId: ids.application, policyId: ids.policy, name: 'Pro' },
    }),
  },
  {
    field: 'Mutation.applyPolicy',
    ids: [application, policy],
    variables: (ids) => ({ input: { applicationId: ids.application, policyId: ids.policy } }),
  },
  {
    field: 'Mutation.deletePolicy',
    once: true,
    ids: [application, policy],
    variables: (ids) => ({ input: { applicationId: ids.application, policyId: ids.policy } }),
  },
  {
    field: 'Mutation.createLicenses',
    ids: [application],
    variables: (ids) => ({ input: { applicationId: ids.application, amount: 2, durationSeconds: 60 } }),
  },
  {
    field: 'Mutation.createBlindLicenses',
    ids: [application],
    variables: (ids) => ({
      input: {
        applicationId: ids.application,
        keys: [
          {
            licenseKeyHash: randomBytes(32).toString('hex'),
            licenseKeyPrefix: 'BLIND',
            durationSeconds: 0,
            noteCiphertextB64: base64(48),
          },
        ],
      },
    }),
  },
  {
    field: 'Mutation.extendLicenses',
    ids: [application],
    variables: (ids) => ({ input: { applicationId: ids.application, seconds: 60 } }),
  },
  {
    field: 'Mutation.bulkLicenses',
    ids: [application],
    variables: (ids) => ({
      input: {
        applicationId: ids.application,
        action: 'setTier',
        filter: {},
        params: { subscriptionTier: 4 },
      },
    }),
  },
  {
    field: 'Mutation.banLicense',
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, scope: 'hwid' } }),
  },
  {
    field: 'Mutation.renameDevice',
    ids: [license, device],
    variables: (ids) => ({ input: { licenseId: ids.license, deviceId: ids.device, name: 'Office' } }),
  },
  {
    field: 'Mutation.releaseDevice',
    once: true,
    ids: [license, device],
    variables: (ids) => ({ input: { licenseId: ids.license, deviceId: ids.device } }),
  },
  {
    field: 'Mutation.setLicenseTier',
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, subscriptionTier: 3 } }),
  },
  {
    field: 'Mutation.updateLicense',
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, deviceLimit: 2, tags: ['one'] } }),
  },
  {
    field: 'Mutation.renewLicense',
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, seconds: 60, basis: 'from_expiry' } }),
  },
  {
    field: 'Mutation.rotateLicenseKey',
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, overlapSeconds: 60 } }),
  },
  {
    field: 'Mutation.suspendLicense',
    once: true,
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license, reason: 'unpaid' } }),
  },
  {
    field: 'Mutation.reinstateLicense',
    once: true,
    ids: [['suspendedLicense', 'LICENSE_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.suspendedLicense } }),
  },
  {
    field: 'Mutation.unbanLicense',
    once: true,
    ids: [['bannedLicense', 'LICENSE_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.bannedLicense } }),
  },
  {
    field: 'Mutation.resetLicenseHwid',
    once: true,
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license } }),
  },
  {
    field: 'Query.explainLicense',
    ids: [application, license],
    variables: (ids) => ({ applicationId: ids.application, licenseId: ids.license }),
  },
  {
    field: 'Mutation.issueOfflineLease',
    ids: [license],
    variables: ({ license: id, deviceRequest }) => ({ input: { id, deviceRequest } }),
  },
  {
    field: 'Mutation.deleteLicense',
    once: true,
    ids: [license],
    variables: (ids) => ({ input: { id: ids.license } }),
  },
  {
    field: 'Mutation.createEndUser',
    ids: [application],
    variables: (ids) => ({
      input: {
        applicationId: ids.application,
        username: `another.${randomBytes(4).toString('hex')}`,
        password: 'a user password',
      },
    }),
  },
  {
    field: 'Mutation.deleteEndUser',
    once: true,
    ids: [application, user],
    variables: (ids) => ({ input: { applicationId: ids.application, userId: ids.user } }),
  },
  {
    field: 'Mutation.resetEndUserHwid',
    once: true,
    ids: [application, user],
    variables: (ids) => ({ input: { applicationId: ids.application, userId: ids.user } }),
  },
  {
    field: 'Mutation.deleteBan',
    once: true,
    ids: [application, ['ban', 'BAN_NOT_FOUND']],
    variables: (ids) => ({ input: { applicationId: ids.application, banId: ids.ban } }),
  },
  { field: 'Mutation.createApiKey', variables: () => ({ input: { name: 'another' } }) },
  {
    field: 'Mutation.updateApiKey',
    ids: [['key', 'API_KEY_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.key, name: 'renamed' } }),
  },
  {
    field: 'Mutation.rotateApiKey',
    ids: [['key', 'API_KEY_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.key, overlapSeconds: 60 } }),
  },
  {
    field: 'Mutation.revokeApiKey',
    once: true,
    ids: [['key', 'API_KEY_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.key } }),
  },
  {
    field: 'Mutation.revokeSession',
    once: true,
    ids: [['session', 'SESSION_NOT_FOUND']],
    variables: (ids) => ({ input: { id: ids.session } }),
  },
  { field: 'Mutation.revokeOtherSessions', once: true, variables: () => ({}) },
  {
    field: 'Mutation.confirmSession',
    sessionOnly: true,
    variables: (_ids, password) => ({ input: { password } }),
  },
  {
    field: 'Mutation.setRequireConfirmation',
    variables: (_ids, password) => ({ input: { requireConfirmation: false, password } }),
  },
  { field: 'Mutation.beginTotp', variables: (_ids, password) => ({ input: { password } }) },
  {
    field: 'Mutation.confirmTotp',
    once: true,
    prepare: seedPendingTotp,
    variables: () => ({ input: { totpCode: knownTotpCode() } }),
  },
  {
    field: 'Mutation.renewRecoveryCodes',
    once: true,
    prepare: seedTotp,
    variables: (_ids, password) => ({ input: { password, recoveryCode: knownRecoveryCode } }),
  },
  {
    field: 'Mutation.disableTotp',
    once: true,
    prepare: seedTotp,
    variables: (_ids, password) => ({ input: { password, recoveryCode: knownRecoveryCode } }),
  },
  {
    field: 'Mutation.createWebhook',
    variables: () => ({ input: { url: 'https://hooks.example.com/', types: ['*'] } }),
  },
  {
    field: 'Mutation.updateWebhook',
    ids: [webhook],
    variables: (ids) => ({ input: { id: ids.webhook, description: 'Shop' } }),
  },
  {
    field: 'Mutation.rotateWebhookSecret',
    ids: [webhook],
    variables: (ids) => ({ input: { id: ids.webhook } }),
  },
  { field: 'Mutation.testWebhook', ids: [webhook], variables: (ids) => ({ input: { id: ids.webhook } }) },
  {
    field: 'Mutation.replayWebhook',
    ids: [webhook],
    variables: (ids) => ({
      input: { id: ids.webhook, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    }),
  },
  {
    field: 'Mutation.redeliverWebhookDelivery',
    ids: [webhook, ['delivery', 'DELIVERY_NOT_FOUND']],
    variables: (ids) => ({ input: { webhookId: ids.webhook, deliveryId: ids.delivery } }),
  },
  {
    field: 'Mutation.deleteWebhook',
    once: true,
    ids: [webhook],
    variables: (ids) => ({ input: { id: ids.webhook } }),
  },
  { field: 'Mutation.setLicenseMask', variables: () => ({ input: { mask: 'NEW-XXXXXXXXXXXXX' } }) },
  {
    field: 'Mutation.setKeyCreationMode',
    variables: (_ids, password) => ({ input: { mode: 'private', password } }),
  },
  {
    field: 'Mutation.setVault',
    variables: (_ids, password) => ({
      input: { vaultSaltB64: base64(16), vaultCheckB64: base64(32), password },
    }),
  },
  {
    field: 'Mutation.updateProfile',
    variables: (_ids, password) => ({ input: { name: 'Grace', password } }),
  },
  {
    field: 'Mutation.deleteAccount',
    once: true,
    variables: (_ids, password) => ({ input: { confirm: 'DELETE', password } }),
  },
  {
    field: 'Subscription.events',
    variables: () => ({}),
  },
  {
    field: 'Subscription.securityLog',
    ids: [application],
    variables: (ids) => ({ applicationId: ids.application, after: '00000000-0000-7000-8000-000000000000' }),
  },
];

/** The fields that are answered once: all but the subscriptions. */
export const answeredOnce = fields.filter(({ field }) => !field.startsWith('Subscription.'));

/** Those that only a developer may ask for. */
export const closedFields = answeredOnce.filter(({ isOpen }) => isOpen !== true);
