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
    EXPIRED: 'Your month of Photo Lab is over. Renew it at photolab.example.com.',
    HWID_MISMATCH: 'This license is bound to another device.',
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
  hwid,
  lastIp: ip,
  note: 'Order 1001',
  noteCiphertextB64: null,
  createdAt: monday,
  updatedAt: tuesday,
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

const ban = { id: id('05'), banType: 'hwid', value: hwid, sourceLicenseId: licenseId, createdAt: tuesday };

const listedApiKey = {
  id: id('06'),
  name: 'Shop',
  keyPrefix: 'service_live_AbCd',
  createdAt: monday,
  last_used_at: tuesday,
  revoked: false,
};

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
  listLicenses: { answer: { ...done, licenses: [license], nextCursor } },
  extendLicenses: { request: { seconds: 604_800 }, answer: { ...done, extended: 41 } },
  banLicense: {
    request: { scope: 'hwid_and_ip', ip },
    answer: { ...done, license: { ...license, status: 'banned' } },
  },
  setLicenseTier: tierExample,
  setLicenseTierByPost: tierExample,
  resetLicenseHwid: { answer: { ...done, license: { ...license, hwid: null } } },
  issueOfflineLease: {
    request: { deviceRequest: `LKQ2.${'A'.repeat(86)}`, days: 14 },
    answer: { ...done, lease: 'eyJhbGciOiJFZERTQSIs…', expiresAt: '2026-02-10T09:30:00.000Z' },
  },
  deleteLicense: { answer: done },

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
        licenses: { total: 50, unused: 7, active: 41, expired: 1, banned: 1 },
        validations24h: { total: 42, byCode: { OK: 41, EXPIRED: 1 } },
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
        licenses: [license],
        users: [user],
        bans: [{ ...ban, applicationId }],
        apiKeys: [listedApiKey],
        securityLog: [logEntry],
      },
    },
  },
  deleteAccount: { request: { password, confirm: 'DELETE' }, answer: done },

  createApiKey: {
    request: { name: listedApiKey.name },
    answer: {
      ...done,
      key: {
        id: listedApiKey.id,
        name: listedApiKey.name,
        apiKey: 'service_live_AbCd…',
        keyPrefix: listedApiKey.keyPrefix,
        createdAt: monday,
      },
      warning:
        'This key opens the whole account, and is shown only now. Store it where only your program reads it.',
    },
  },
  listApiKeys: { answer: { ...done, keys: [listedApiKey], nextCursor: null } },
  revokeApiKey: { answer: done },

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
  IP_NOT_KNOWN: 'This license has not been used from any IP address yet: send one as ip.',
  UNAUTHENTICATED: 'Log in, or send an API key as "Authorization: Bearer service_live_…".',
  FORBIDDEN: 'Requests that use or set the session cookie are not accepted from https://elsewhere.example.',
  APP_NOT_FOUND: 'There is no such application.',
  BAN_NOT_FOUND: 'There is no such ban.',
  API_KEY_NOT_FOUND: 'There is no such API key.',
  EMAIL_TAKEN: 'An account with this email address already exists.',
  KEY_EXISTS: '1 of these keys already exist; none was stored.',
  LIMIT_REACHED:
    'This account cannot have another application: the limit is 1,000. Delete one that is not in use, or ask the operator to raise applications in COUNT_LIMITS.',
  TOO_MANY_EXPORTS: '3 exports of this account are already in progress. Try again when one has finished.',
  PRIVATE_MODE:
    'This account is in private mode: generate keys in the browser and send their hashes to create-blind.',
  PAYLOAD_TOO_LARGE: 'The request body is too large.',
  RATE_LIMITED: 'Too many requests. Try again in 42 s.',
  SEARCH_TOO_BROAD:
    'The searches of this request used more than 2.5 seconds of database time. Search for a longer text (at least three letters or digits), narrow the filter, or omit the count.',
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
