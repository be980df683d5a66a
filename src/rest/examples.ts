/**
 * Examples for the OpenAPI document. Together they tell one story: Ada sells Photo Lab, and Grace buys it. None of the
 * values is a real secret. A test checks that every route has examples and that they match its schemas.
 */

const id = (last: string) => `019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a${last}`;
const developerId = id('01');
const applicationId = id('02');
const licenseId = id('03');
const userId = id('04');
const monday = '2026-01-26T09:00:00.000Z';
const tuesday = '2026-01-27T09:30:00.000Z';
const inThirtyDays = '2026-02-26T09:30:00.000Z';
const hwid = 'b7f1c0de-workstation';
const ip = '192.0.2.7';
const nextCursor = 'YWZ0ZXI6MDE5YjJjNmUtN2QxYS03YzNmLTlkNTUtMGY2ZjFjMmIzYTAz';
const licenseKey = 'K7QWX-3MAM5-Y826W-E4GW4-SZWME';
const password = 'correct horse battery staple';

/** Base64 of `bytes` equal bytes: the shape of a key, nonce or signature, but obviously not a real one. */
const base64Of = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

const developer = {
  id: developerId,
  email: 'ada@example.com',
  name: 'Ada',
  keyCreationMode: 'default',
  licenseMask: null,
  createdAt: monday,
};

const session = {
  id: id('0a'),
  ip,
  country: 'SE',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  createdAt: monday,
  lastSeenAt: tuesday,
  expiresAt: '2026-02-02T09:00:00.000Z',
};

const recoveryCodes = Array.from({ length: 10 }, (_, index) => `ABCD-EFGH-IJKL-MN2${(index % 6) + 2}`);

const suspended = {
  id: id('21'),
  type: 'license.suspended',
  timestamp: tuesday,
  sequence: 17,
  applicationId,
  subject: { kind: 'license', id: licenseId },
  data: {
    keyPrefix: licenseKey.slice(0, 6),
    status: 'suspended',
    expiresAt: inThirtyDays,
    reason: 'payment failed',
    stopClock: false,
  },
};

const application = {
  id: applicationId,
  name: 'Photo Lab',
  version: '1.0.0',
  status: 'active',
  hwidLockEnabled: true,
  requireLicenseToRegister: true,
  registrationEnabled: true,
  protocol: 'any',
  leasesEnabled: false,
  leaseDays: 7,
  responseMessages: {
    OK: 'License is valid.',
    APP_DISABLED: 'This application is currently disabled.',
    APP_OUTDATED: 'This version is out of date. Please update to the latest version.',
    IP_BANNED: 'Access from your network address has been blocked.',
    HWID_BANNED: 'Access from this device has been blocked.',
    LICENSE_NOT_FOUND: 'License key not found.',
    BANNED: 'This license has been banned.',
    SUSPENDED: 'This license is suspended.',
    EXPIRED: 'Your month of Photo Lab is over. Renew it at photolab.example.com.',
    DEVICE_RELEASED: 'This device has been released from the license.',
    HWID_MISMATCH: 'This license is bound to another device.',
    DEVICE_LIMIT: 'This license is in use on as many devices as it allows.',
    SELF_SERVICE_OFF: 'The devices of this license can only be changed by its vendor.',
    DEVICE_UNKNOWN: 'This license is not bound to such a device.',
    MOVE_COOLDOWN: 'A device was moved a short time ago. Try again later.',
    MOVES_EXHAUSTED: 'No more devices can be moved for now. Try again later.',
    REGISTER_DISABLED: 'Registration is currently closed.',
    LICENSE_REQUIRED: 'A license key is required to register.',
    INVALID_CREDENTIALS: 'Wrong username or password.',
    USERNAME_TAKEN: 'This username is already taken.',
    USER_NOT_FOUND: 'User not found.',
    TIER_NOT_HIGHER: 'The new license must be of a higher tier than the current one.',
  },
  publicKeyB64: base64Of(32),
  createdAt: monday,
  updatedAt: monday,
};

const sdkHint = {
  baseUrl: 'https://licenses.example.com',
  appId: applicationId,
  version: '1.0.0',
  publicKeyB64: application.publicKeyB64,
  protocol: 2,
  snippet: "import { createClient } from '@latchkey/client'; …",
};

const minted = { id: licenseId, keyPrefix: 'K7QWX-', durationSeconds: 2_592_000, subscriptionTier: 1 };

const license = {
  ...minted,
  applicationId,
  status: 'active',
  activatedAt: tuesday,
  expiresAt: inThirtyDays,
  graceSeconds: 259_200,
  graceEndsAt: null,
  suspendedAt: null,
  suspensionReason: null,
  clockStopped: false,
  hwid,
  deviceLimit: 2,
  deviceCount: 1,
  overLimit: false,
  selfService: 'key',
  moves: { count: 3, periodSeconds: 2_592_000 },
  cooldownSeconds: 3600,
  releaseIdleAfterSeconds: null,
  leaseSeconds: null,
  policyId: null,
  entitlements: { 'export.pdf': true, seats: 5 },
  metadata: { client: { channel: 'beta' }, private: { order: '1001' } },
  tags: ['reseller'],
  lastIp: ip,
  note: 'Order 1001',
  noteCiphertextB64: null,
  createdAt: monday,
  updatedAt: tuesday,
};

const policy = {
  id: id('09'),
  applicationId,
  code: 'pro-monthly',
  name: 'Pro, one month',
  durationSeconds: minted.durationSeconds,
  startsAt: 'first_use',
  subscriptionTier: 1,
  deviceLimit: license.deviceLimit,
  selfService: license.selfService,
  moves: license.moves,
  cooldownSeconds: license.cooldownSeconds,
  releaseIdleAfterSeconds: null,
  graceSeconds: license.graceSeconds,
  leaseSeconds: null,
  entitlements: license.entitlements,
  keyMask: null,
  metadata: { client: { channel: 'beta' }, private: {} },
  createdAt: monday,
  updatedAt: monday,
};

const user = {
  id: userId,
  applicationId,
  username: 'grace',
  email: 'grace@example.com',
  licenseId,
  subscriptionTier: 1,
  lastIp: ip,
  lastHwid: hwid,
  createdAt: tuesday,
  updatedAt: tuesday,
};

const device = {
  id: id('10'),
  hwid,
  name: 'Office',
  platform: 'Windows 11',
  firstSeenAt: tuesday,
  lastSeenAt: tuesday,
  lastIp: ip,
  country: 'DE',
  state: 'active',
  releasedAt: null,
  releasedBy: null,
};

const ban = { id: id('05'), banType: 'hwid', value: hwid, sourceLicenseId: licenseId, createdAt: tuesday };

const listedApiKey = {
  id: id('06'),
  name: 'Shop',
  keyPrefix: 'service_live_AbCd',
  scopes: ['licenses:read', 'licenses:mint'],
  applicationId,
  allowedCidrs: ['192.0.2.0/24', '2001:db8::/32'],
  expiresAt: null,
  previousValidUntil: null,
  createdAt: monday,
  last_used_at: tuesday,
  revoked: false,
};

const { last_used_at: _, revoked: __, ...issuedKey } = listedApiKey;
const issuedApiKey = { ...issuedKey, apiKey: 'service_live_AbCd…' };

const logEntry = {
  id: id('07'),
  applicationId,
  event: 'license_validated',
  code: 'OK',
  licenseId,
  userId: null,
  ip,
  country: 'DE',
  hwid,
  metadata: {},
  createdAt: tuesday,
  actor: { kind: 'client', id: null, name: null },
};

const done = { success: true };
const sealed = {
  sessionId: 'the sessionId returned by /session/init',
  ivB64: base64Of(12),
  ciphertextB64: base64Of(96),
  tagB64: base64Of(16),
};
const sealedExample = { request: sealed, answer: { ...sealed, signatureB64: base64Of(64) } };
const tierExample = {
  request: { subscriptionTier: 2 },
  answer: { ...done, subscriptionTier: 2 },
};
const exportedLicense = {
  id: licenseId,
  keyPrefix: license.keyPrefix,
  status: 'active',
  expiresAt: inThirtyDays,
  subscriptionTier: 1,
  hwid,
  lastIp: ip,
  devices: [device],
};

const webhook = {
  id: id('11'),
  url: 'https://hooks.example.com/latchkey',
  types: ['license.*'],
  applicationId: null,
  description: 'Shop',
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  failingSince: null,
  lastSuccessAt: tuesday,
  previousSecretUntil: null,
  createdAt: monday,
  updatedAt: monday,
};
const newWebhook = {
  webhook: { ...webhook, lastSuccessAt: null },
  secret: `whsec_${base64Of(32)}`,
  warning:
    'This secret proves to your receiver that a message is from this service, and is shown only now. …',
};
const delivery = {
  id: id('12'),
  webhookId: webhook.id,
  eventId: id('13'),
  eventType: 'license.suspended',
  status: 'succeeded',
  attempts: 1,
  nextAttemptAt: null,
  lastAttemptAt: tuesday,
  latencyMilliseconds: 48,
  statusCode: 204,
  answer: '',
  error: null,
  createdAt: tuesday,
};

/** A route's request body, if it has one, and its response body. */
interface Example {
  readonly request?: object;
  readonly answer: object;
}

/** Examples by operationId. */
export const examples: Readonly<Record<string, Example>> = {
  registerDeveloper: {
    request: { email: developer.email, password, name: developer.name },
    answer: { ...done, developer },
  },
  loginDeveloper: { request: { email: developer.email, password }, answer: { ...done, developer } },
  logoutDeveloper: { answer: done },
  getCurrentDeveloper: { answer: { ...done, developer } },

  createApplication: {
    request: { name: application.name, version: application.version },
    answer: { ...done, application, sdkHint, publicKeyB64: application.publicKeyB64 },
  },
  listApplications: { answer: { ...done, applications: [application], nextCursor: null } },
  getSdkHint: { answer: { ...done, sdkHint } },
  getApplication: { answer: { ...done, application } },
  updateApplicationSettings: {
    request: { version: '1.1.0', responseMessages: { EXPIRED: application.responseMessages.EXPIRED } },
    answer: { ...done, application: { ...application, version: '1.1.0', updatedAt: tuesday } },
  },
  deleteApplication: { answer: done },

  createLicenses: {
    request: {
      applicationId,
      amount: 1,
      durationSeconds: minted.durationSeconds,
      subscriptionTier: 1,
      note: license.note,
    },
    answer: {
      ...done,
      keys: [{ ...minted, licenseKey }],
      warning: 'These keys are shown only now and cannot be recovered. Store them before you go on.',
    },
  },
  createBlindLicenses: {
    request: {
      applicationId,
      subscriptionTier: 1,
      keys: [
        {
          licenseKeyHash: '07'.repeat(32),
          licenseKeyPrefix: minted.keyPrefix,
          durationSeconds: minted.durationSeconds,
        },
      ],
    },
    answer: { ...done, keys: [minted] },
  },
  listLicenses: { answer: { ...done, licenses: [{ ...license, lastSeenAt: tuesday }], nextCursor } },
  extendLicenses: { request: { seconds: 604_800 }, answer: { ...done, extended: 41 } },
  bulkLicenses: {
    request: {
      action: 'renew',
      filter: { status: ['expired'], tag: 'reseller' },
      params: { seconds: 2_592_000, basis: 'from_now' },
      dryRun: true,
    },
    answer: {
      ...done,
      dryRun: true,
      matched: 2,
      changed: 1,
      skipped: 1,
      skippedByCode: { INVALID_TRANSITION: 1 },
      sample: [
        { id: licenseId, keyPrefix: license.keyPrefix, outcome: 'changed' },
        { id: id('08'), keyPrefix: 'M3XWT-', outcome: 'skipped', code: 'INVALID_TRANSITION' },
      ],
      ids: [licenseId],
    },
  },
  banLicense: {
    request: { scope: 'hwid_and_ip', ip },
    answer: { ...done, license: { ...license, status: 'banned' } },
  },
  setLicenseTier: tierExample,
  setLicenseTierByPost: tierExample,
  explainLicense: {
    request: { applicationId, licenseId, hwid: 'another-device', version: '1.0.0' },
    answer: {
      success: false,
      code: 'HWID_MISMATCH',
      message: 'This license is bound to another device.',
      rules: [
        { rule: 'application_status', outcome: 'pass', because: 'The application is active.' },
        {
          rule: 'device_limit',
          outcome: 'fail',
          because: '1 of 1 devices are bound, and this one is not among them.',
        },
      ],
      wouldActivate: false,
      wouldBind: false,
      expiresAt: null,
      graceEndsAt: null,
      note: null,
    },
  },
  resetLicenseHwid: { answer: { ...done, license: { ...license, hwid: null, deviceCount: 0 } } },
  issueOfflineLease: {
    request: { deviceRequest: `LKQ2.${'A'.repeat(86)}`, days: 14 },
    answer: { ...done, lease: 'eyJhbGciOiJFZERTQSIs…', expiresAt: '2026-02-10T09:30:00.000Z' },
  },
  deleteLicense: { answer: done },
  getLicense: { answer: { ...done, license: { ...license, lastSeenAt: tuesday } } },
  updateLicense: {
    request: { deviceLimit: 3, graceSeconds: 604_800, entitlements: { 'export.pdf': true, seats: 10 } },
    answer: {
      ...done,
      license: {
        ...license,
        deviceLimit: 3,
        graceSeconds: 604_800,
        entitlements: { 'export.pdf': true, seats: 10 },
      },
    },
  },
  unbanLicense: { request: { removeBans: true }, answer: { ...done, license } },
  suspendLicense: {
    request: { reason: 'Invoice 1001 is unpaid', stopClock: true },
    answer: {
      ...done,
      license: {
        ...license,
        status: 'suspended',
        suspendedAt: tuesday,
        suspensionReason: 'Invoice 1001 is unpaid',
        clockStopped: true,
      },
    },
  },
  reinstateLicense: { answer: { ...done, license } },
  renewLicense: {
    request: { seconds: minted.durationSeconds, basis: 'from_now_if_expired' },
    answer: { ...done, license: { ...license, expiresAt: '2026-03-28T09:30:00.000Z' } },
  },
  rotateLicenseKey: {
    request: { overlapSeconds: 604_800 },
    answer: { ...done, licenseKey, license },
  },

  listEvents: { answer: { ...done, events: [suspended], nextCursor: suspended.id, hasMore: false } },
  listPolicies: { answer: { ...done, policies: [policy], nextCursor: null } },
  createPolicy: {
    request: {
      code: policy.code,
      name: policy.name,
      durationSeconds: policy.durationSeconds,
      subscriptionTier: 1,
      deviceLimit: 2,
      entitlements: policy.entitlements,
    },
    answer: { ...done, policy },
  },
  getPolicy: { answer: { ...done, policy } },
  updatePolicy: {
    request: { deviceLimit: 3 },
    answer: { ...done, policy: { ...policy, deviceLimit: 3, updatedAt: tuesday } },
  },
  deletePolicy: { answer: done },
  applyPolicy: {
    request: { dryRun: true },
    answer: {
      ...done,
      dryRun: true,
      matched: 2,
      changed: 1,
      skipped: 1,
      skippedByCode: { UNCHANGED: 1 },
      sample: [
        { id: licenseId, keyPrefix: license.keyPrefix, outcome: 'changed' },
        { id: id('08'), keyPrefix: 'M3XWT-', outcome: 'skipped', code: 'UNCHANGED' },
      ],
      ids: [licenseId],
    },
  },

  listDevices: { answer: { ...done, devices: [device], nextCursor: null } },
  renameDevice: { request: { name: device.name }, answer: { ...done, device } },
  releaseDevice: {
    answer: {
      ...done,
      device: { ...device, state: 'released', releasedAt: '2026-01-28T10:15:00.000Z', releasedBy: 'vendor' },
    },
  },

  listWebhooks: { answer: { ...done, webhooks: [webhook], nextCursor: null } },
  createWebhook: {
    request: { url: webhook.url, types: webhook.types, description: webhook.description },
    answer: { ...done, ...newWebhook },
  },
  getWebhook: { answer: { ...done, webhook } },
  updateWebhook: {
    request: { types: ['license.*', 'device.*'] },
    answer: { ...done, webhook: { ...webhook, types: ['license.*', 'device.*'], updatedAt: tuesday } },
  },
  deleteWebhook: { answer: done },
  testWebhook: { answer: { ...done, delivery: { ...delivery, eventType: 'webhook.test' } } },
  rotateWebhookSecret: {
    answer: {
      ...done,
      ...newWebhook,
      webhook: { ...webhook, previousSecretUntil: '2026-01-28T09:30:00.000Z', updatedAt: tuesday },
    },
  },
  replayWebhook: { request: { from: monday, to: tuesday }, answer: { ...done, enqueued: 12 } },
  listWebhookDeliveries: { answer: { ...done, deliveries: [delivery], nextCursor: null } },
  redeliverWebhookDelivery: {
    answer: { ...done, delivery: { ...delivery, status: 'pending', attempts: 0, nextAttemptAt: tuesday } },
  },

  listEndUsers: { answer: { ...done, users: [user], nextCursor: null } },
  createEndUser: {
    request: { username: user.username, password, email: user.email, licenseKey },
    answer: { ...done, user: { ...user, lastIp: null, lastHwid: null } },
  },
  exportEndUsers: {
    answer: {
      ...done,
      export: {
        exportedAt: tuesday,
        applicationId,
        users: [
          {
            ...user,
            license: exportedLicense,
            sessions: [{ id: id('08'), ip, hwid, createdAt: tuesday, expiresAt: '2026-02-03T09:30:00.000Z' }],
          },
        ],
        bans: [ban],
        securityLog: [logEntry],
      },
    },
  },
  deleteEndUser: { answer: done },
  resetEndUserHwid: { answer: done },

  listBans: { answer: { ...done, bans: [ban], nextCursor: null } },
  deleteBan: { answer: done },

  listSecurityLog: { answer: { ...done, logs: [logEntry], nextCursor: null } },
  getMetrics: {
    answer: {
      ...done,
      metrics: {
        applications: { total: 1, active: 1, disabled: 0 },
        licenses: { total: 50, unused: 7, active: 40, suspended: 1, expired: 1, banned: 1 },
        validations24h: { total: 42, byCode: { OK: 41, EXPIRED: 1 } },
      },
    },
  },
  getMetricsHistory: {
    answer: {
      ...done,
      history: {
        from: '2026-01-26T10:00:00.000Z',
        to: '2026-01-27T10:00:00.000Z',
        bucketSeconds: 3600,
        validations: [
          { startsAt: '2026-01-27T09:00:00.000Z', code: 'EXPIRED', count: 1 },
          { startsAt: '2026-01-27T09:00:00.000Z', code: 'OK', count: 41 },
        ],
        activations: [
          { startsAt: '2026-01-27T08:00:00.000Z', count: 0 },
          { startsAt: '2026-01-27T09:00:00.000Z', count: 3 },
        ],
        expiries: [
          { day: '2026-01-27T00:00:00.000Z', count: 0 },
          { day: '2026-01-28T00:00:00.000Z', count: 2 },
        ],
        licenses: { total: 50, unused: 7, active: 40, suspended: 1, expired: 1, banned: 1 },
      },
    },
  },

  setLicenseMask: {
    request: { mask: 'LAB-XXXXX-XXXXX-XXXXX' },
    answer: { ...done, mask: 'LAB-XXXXX-XXXXX-XXXXX' },
  },
  setKeyCreationMode: { request: { mode: 'private', password }, answer: { ...done, mode: 'private' } },
  setVault: {
    request: { vaultSaltB64: base64Of(16), vaultCheckB64: base64Of(48), password },
    answer: { ...done, vault: { vaultSaltB64: base64Of(16), vaultCheckB64: base64Of(48) } },
  },
  updateProfile: {
    request: { name: 'Ada Lovelace', password },
    answer: { ...done, developer: { ...developer, name: 'Ada Lovelace' } },
  },
  exportAccount: {
    answer: {
      ...done,
      export: {
        exportedAt: tuesday,
        developer,
        applications: [application],
        licenses: [{ ...license, devices: [device] }],
        policies: [policy],
        users: [user],
        bans: [{ ...ban, applicationId }],
        apiKeys: [listedApiKey],
        sessions: [session],
        webhooks: [webhook],
        securityLog: [logEntry],
      },
    },
  },
  deleteAccount: { request: { password, confirm: 'DELETE' }, answer: done },

  createApiKey: {
    request: {
      name: listedApiKey.name,
      scopes: listedApiKey.scopes,
      applicationId,
      allowedCidrs: listedApiKey.allowedCidrs,
    },
    answer: {
      ...done,
      key: issuedApiKey,
      warning: 'This key is shown only now. Store it where only your program reads it.',
    },
  },
  updateApiKey: {
    request: { scopes: ['licenses:read', 'licenses:mint'], expiresAt: null },
    answer: { ...done, key: listedApiKey },
  },
  rotateApiKey: {
    request: { overlapSeconds: 86_400 },
    answer: {
      ...done,
      key: { ...issuedApiKey, previousValidUntil: tuesday },
      warning: 'This key is shown only now. Store it where only your program reads it.',
    },
  },
  listApiKeys: { answer: { ...done, keys: [listedApiKey], nextCursor: null } },
  revokeApiKey: { answer: done },

  listSessions: { answer: { ...done, sessions: [{ ...session, current: true }], nextCursor: null } },
  revokeSession: { answer: done },
  revokeOtherSessions: { answer: { ...done, revoked: 2 } },
  confirmSession: { request: { password, totpCode: '287082' }, answer: { ...done, confirmedUntil: tuesday } },
  getAccountSecurity: {
    answer: {
      ...done,
      security: { totpEnabled: true, recoveryCodesLeft: 10, requireConfirmation: false },
    },
  },
  beginTotp: {
    request: { password },
    answer: {
      ...done,
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      uri: 'otpauth://totp/Latchkey:ada%40example.com?issuer=Latchkey&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
    },
  },
  confirmTotp: { request: { totpCode: '287082' }, answer: { ...done, recoveryCodes } },
  disableTotp: { request: { password, totpCode: '287082' }, answer: done },
  renewRecoveryCodes: { request: { password, totpCode: '287082' }, answer: { ...done, recoveryCodes } },
  setRequireConfirmation: {
    request: { requireConfirmation: true, password },
    answer: { ...done, requireConfirmation: true },
  },

  initSession: {
    request: { appId: applicationId, clientNonceB64: base64Of(32), clientVersion: '1.0.0' },
    answer: {
      ...done,
      sessionId: sealed.sessionId,
      serverNonceB64: base64Of(32),
      hkdfSaltB64: base64Of(32),
      timestamp: 1_769_506_200,
      signatureB64: base64Of(64),
      v: 1,
    },
  },
  validateLicense: sealedExample,
  listOwnDevices: sealedExample,
  releaseOwnDevice: sealedExample,
  moveOwnDevice: sealedExample,
  registerEndUser: sealedExample,
  loginEndUser: sealedExample,
  upgradeEndUser: sealedExample,
};

/** Error messages by code. Developers can change the ones that their clients get. */
const failureTexts: Readonly<Record<string, string>> = {
  ...application.responseMessages,
  VALIDATION_FAILED: 'The input is not valid: name: must not be blank',
  BOT_CHALLENGE_FAILED: 'The bot challenge was not passed. Solve a new one.',
  REGISTRATION_CLOSED: 'Registration is closed. Ask the operator of this service for an account.',
  HWID_NOT_SET: 'This license is not bound to a device.',
  LICENSE_BANNED: 'This license is banned; its device binding cannot be cleared.',
  APP_MISMATCH: 'This license belongs to another application.',
  INVALID_TRANSITION: 'This license is not suspended. Nothing was changed.',
  IP_NOT_KNOWN: 'This license has not been used from any IP address yet: send one as ip.',
  UNAUTHENTICATED: 'Log in, or send an API key as "Authorization: Bearer service_live_…".',
  FORBIDDEN: 'Requests that use or set the session cookie are not accepted from https://elsewhere.example.',
  TOTP_REQUIRED:
    'This account has TOTP on: send the code of the authenticator app as totpCode, or a recovery code as recoveryCode.',
  TOTP_INVALID: 'The code is wrong, or was used before. Each code is good once.',
  CONFIRMATION_REQUIRED:
    'Confirm this with your password first: POST /api/v1/auth/confirm, or the mutation confirmSession.',
  SESSION_NOT_FOUND: 'There is no such session.',
  INSUFFICIENT_SCOPE: 'This API key does not have the scope licenses:write.',
  APP_NOT_FOUND: 'There is no such application.',
  DEVICE_NOT_FOUND: 'There is no such device.',
  LOG_ENTRY_NOT_FOUND: 'There is no such log entry.',
  POLICY_NOT_FOUND: 'There is no such policy.',
  POLICY_CODE_TAKEN:
    'Another policy of this application has this code. Choose another one, or change that policy.',
  BAN_NOT_FOUND: 'There is no such ban.',
  API_KEY_NOT_FOUND: 'There is no such API key.',
  WEBHOOK_NOT_FOUND: 'There is no such webhook.',
  DELIVERY_NOT_FOUND: 'There is no such delivery.',
  EMAIL_TAKEN: 'An account with this email address already exists.',
  KEY_EXISTS: '1 of these keys already exist; none was stored.',
  LIMIT_REACHED:
    'This account cannot have another application: the limit is 1,000. Delete one that is not in use, or ask the operator to raise applications in COUNT_LIMITS.',
  TOO_MANY:
    'These are 12,345 licenses; one request can change 10,000. Nothing was changed. Narrow the filter, or send several requests.',
  TOO_MANY_EXPORTS: '3 exports of this account are already in progress. Try again when one has finished.',
  TOO_MANY_DELIVERIES: 'Too many attempts of this account are in progress. Try again when some have ended.',
  PRIVATE_MODE:
    'This account is in private mode: generate keys in the browser and send their hashes to create-blind.',
  IDEMPOTENCY_MISMATCH:
    'This Idempotency-Key was sent before with another request, or with another credential. Send a new key with each new request.',
  IDEMPOTENCY_IN_PROGRESS:
    'A request with this Idempotency-Key is still running. Send it again in a moment to get its answer.',
  PAYLOAD_TOO_LARGE: 'The request body is too large.',
  RATE_LIMITED: 'Too many requests. Try again in 42 s.',
  SEARCH_TOO_BROAD:
    'The searches of this request used more than 2.5 seconds of database time. Search for a longer text (at least three letters or digits), narrow the filter, or omit the count.',
  CURSOR_EXPIRED:
    'There is no such event any more: continue without `after`, from the oldest event that is kept.',
  TOO_MANY_SUBSCRIPTIONS: 'Your account has 20 streams open here, the most that one may.',
  TOO_MANY_READS:
    'Too many reads of this account are waiting. Wait for some responses before sending more requests, or request less at once.',
  UNAVAILABLE: 'The service is temporarily unavailable. Try again shortly.',
  INTERNAL: 'Internal error. It has been logged.',
  CRYPTO_REQUIRED: 'This request must be sealed. See the protocol specification.',
  DECRYPT_FAIL: "The envelope cannot be decrypted with this session's key.",
  CLOCK_SKEW: "The request's timestamp differs from the server's clock by 75 s.",
  REPLAY: 'This request has been sent before. Seal a new one with a fresh nonce.',
  SESSION_EXPIRED: 'This session has expired. Open a new one with /session/init.',
};

/** A failure of this code. */
export function failureExample(code: string): object {
  const error = failureTexts[code];
  if (error === undefined) throw new Error(`examples.ts has no text for the code ${code}`);
  return { success: false, error, code, ...detailsOf(code) };
}

function detailsOf(code: string): object {
  switch (code) {
    case 'VALIDATION_FAILED':
      return { issues: [{ path: ['name'], message: 'must not be blank' }] };
    case 'KEY_EXISTS':
      return {
        issues: [{ path: ['keys', 0, 'licenseKeyHash'], message: 'is the hash of an existing key' }],
      };
    case 'INTERNAL':
      return { requestId: id('09') };
    default:
      return {};
  }
}
