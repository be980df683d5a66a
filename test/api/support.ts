import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { z } from 'zod';
import { type ApiAnswer, failureBody } from '../setup/api-client.ts';
import type { TestServer } from '../setup/server.ts';

/** Shared by tests of the dashboard routes: schemas of responses, and requests that fetch would not send. */

const strictFailure = z.strictObject(failureBody.shape);
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Limits that are too high to be reached by tests. */
export const noLimits = {
  RATE_LIMITS: [
    'auth',
    'session',
    'validate',
    'clientAuth',
    'appCreate',
    'licenseCreate',
    'blindCreate',
    'accountSensitive',
    'apiKeyAuth',
    'answerKilobytes',
    'webhookSend',
  ]
    .map((name) => `${name}=100000`)
    .join(),
  COUNT_LIMITS: 'applications=1000000,apiKeys=1000000',
};

/** Checks that a response has exactly the documented failure shape. */
export function expectFailure(
  answer: ApiAnswer,
  status: number,
  code: string,
): z.infer<typeof strictFailure> {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status, body: { code } });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-request-id')).toMatch(uuidV7);
  const body = strictFailure.parse(answer.body);
  expect(body.error).not.toBe('');
  expect(body.issues !== undefined, 'issues come with what names places in the input').toBe(
    code === 'VALIDATION_FAILED' || code === 'KEY_EXISTS',
  );
  expect(body.requestId !== undefined, 'a request id comes with INTERNAL alone').toBe(code === 'INTERNAL');
  return body;
}

/** Checks for VALIDATION_FAILED about this field. */
export function expectIssue(answer: ApiAnswer, field: string): void {
  const { issues = [] } = expectFailure(answer, 400, 'VALIDATION_FAILED');
  expect(
    issues.map((issue) => issue.path[0]),
    JSON.stringify(answer.body),
  ).toContain(field);
}

/** Checks for a success with this status and parses it. */
export function expectSuccess<Schema extends z.ZodType>(
  answer: ApiAnswer,
  status: number,
  schema: Schema,
): z.output<Schema> {
  expect(answer.status, JSON.stringify(answer.body).slice(0, 2000)).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.body).toMatchObject({ success: true });
  return schema.parse(answer.body);
}

const timestamp = z.iso.datetime();
export const id = z.string().regex(uuidV7);

export const developer = z.strictObject({
  id,
  email: z.string(),
  name: z.string(),
  keyCreationMode: z.enum(['default', 'private']),
  licenseMask: z.string().nullable(),
  createdAt: timestamp,
});
export const developerAnswer = z.strictObject({ success: z.literal(true), developer });

export const messageKeys = [
  'APP_DISABLED',
  'OK',
  'BANNED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
  'SELF_SERVICE_OFF',
  'DEVICE_UNKNOWN',
  'MOVE_COOLDOWN',
  'MOVES_EXHAUSTED',
  'LICENSE_NOT_FOUND',
  'SUSPENDED',
  'EXPIRED',
  'APP_OUTDATED',
  'HWID_BANNED',
  'IP_BANNED',
  'REGISTER_DISABLED',
  'LICENSE_REQUIRED',
  'INVALID_CREDENTIALS',
  'USERNAME_TAKEN',
  'USER_NOT_FOUND',
  'TIER_NOT_HIGHER',
] as const;

export const application = z.strictObject({
  id,
  name: z.string(),
  version: z.string(),
  status: z.enum(['active', 'disabled']),
  hwidLockEnabled: z.boolean(),
  requireLicenseToRegister: z.boolean(),
  registrationEnabled: z.boolean(),
  protocol: z.enum(['any', 'v2_only']),
  leasesEnabled: z.boolean(),
  leaseDays: z.int(),
  responseMessages: z.record(z.enum(messageKeys), z.string().min(1)),
  publicKeyB64: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const applicationAnswer = z.strictObject({ success: z.literal(true), application });
export const applicationsAnswer = z.strictObject({
  success: z.literal(true),
  applications: z.array(application),
  nextCursor: z.string().nullable(),
});
export const createdApplication = z.strictObject({
  success: z.literal(true),
  application,
  sdkHint: z.strictObject({
    baseUrl: z.string(),
    appId: id,
    version: z.string(),
    publicKeyB64: z.string(),
    protocol: z.literal(2),
    snippet: z.string(),
  }),
  publicKeyB64: z.string(),
});

export const mintedAnswer = z.strictObject({
  success: z.literal(true),
  keys: z.array(
    z.strictObject({
      id,
      licenseKey: z.string(),
      keyPrefix: z.string(),
      durationSeconds: z.int(),
      subscriptionTier: z.int(),
    }),
  ),
  warning: z.string(),
});

const value = z.union([z.boolean(), z.int(), z.string()]);

export const license = z.strictObject({
  id,
  applicationId: id,
  keyPrefix: z.string(),
  status: z.enum(['unused', 'active', 'suspended', 'expired', 'banned']),
  subscriptionTier: z.int(),
  durationSeconds: z.int(),
  activatedAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  graceSeconds: z.int(),
  graceEndsAt: timestamp.nullable(),
  suspendedAt: timestamp.nullable(),
  suspensionReason: z.string().nullable(),
  clockStopped: z.boolean(),
  hwid: z.string().nullable(),
  deviceLimit: z.int(),
  deviceCount: z.int(),
  overLimit: z.boolean(),
  selfService: z.enum(['off', 'key', 'account']),
  moves: z.strictObject({ count: z.int(), periodSeconds: z.int() }).nullable(),
  cooldownSeconds: z.int(),
  releaseIdleAfterSeconds: z.int().nullable(),
  leaseSeconds: z.int().nullable(),
  policyId: id.nullable(),
  entitlements: z.record(z.string(), value),
  metadata: z.strictObject({ client: z.record(z.string(), value), private: z.record(z.string(), value) }),
  tags: z.array(z.string()),
  lastIp: z.string().nullable(),
  note: z.string().nullable(),
  noteCiphertextB64: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
/** The answer to a change, or to a read, which also says when it was last seen. */
export const licenseAnswer = z.strictObject({
  success: z.literal(true),
  license: license.extend({ lastSeenAt: timestamp.nullable().optional() }),
});
export const licensesAnswer = z.strictObject({
  success: z.literal(true),
  licenses: z.array(license.extend({ lastSeenAt: timestamp.nullable() })),
  nextCursor: z.string().nullable(),
});

export const device = z.strictObject({
  id,
  hwid: z.string().nullable(),
  name: z.string().nullable(),
  platform: z.string().nullable(),
  firstSeenAt: timestamp,
  lastSeenAt: timestamp,
  lastIp: z.string().nullable(),
  country: z.string().nullable(),
  state: z.enum(['active', 'released']),
  releasedAt: timestamp.nullable(),
  releasedBy: z.enum(['vendor', 'customer', 'idle']).nullable(),
});

export const policy = z.strictObject({
  id,
  applicationId: id,
  code: z.string(),
  name: z.string(),
  durationSeconds: z.int(),
  startsAt: z.enum(['first_use', 'creation']),
  ...license.pick({
    subscriptionTier: true,
    deviceLimit: true,
    selfService: true,
    moves: true,
    cooldownSeconds: true,
    releaseIdleAfterSeconds: true,
    graceSeconds: true,
    leaseSeconds: true,
    entitlements: true,
    metadata: true,
  }).shape,
  keyMask: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const policyAnswer = z.strictObject({ success: z.literal(true), policy });
export const policiesAnswer = z.strictObject({
  success: z.literal(true),
  policies: z.array(policy),
  nextCursor: z.string().nullable(),
});

const apiKeyGrant = {
  scopes: z.array(z.string()),
  applicationId: id.nullable(),
  allowedCidrs: z.array(z.string()),
  expiresAt: timestamp.nullable(),
  previousValidUntil: timestamp.nullable(),
};
export const apiKeyAnswer = z.strictObject({
  success: z.literal(true),
  key: z.strictObject({
    id,
    name: z.string(),
    apiKey: z.string(),
    keyPrefix: z.string(),
    ...apiKeyGrant,
    createdAt: timestamp,
  }),
  warning: z.string().min(1),
});

/** A success without further members. */
export const doneAnswer = z.strictObject({ success: z.literal(true) });

export const endUser = z.strictObject({
  id,
  applicationId: id,
  username: z.string(),
  email: z.string().nullable(),
  licenseId: id.nullable(),
  subscriptionTier: z.int().nullable(),
  lastIp: z.string().nullable(),
  lastHwid: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export const userAnswer = z.strictObject({ success: z.literal(true), user: endUser });
export const usersAnswer = z.strictObject({
  success: z.literal(true),
  users: z.array(endUser),
  nextCursor: z.string().nullable(),
});

const ban = z.strictObject({
  id,
  banType: z.enum(['hwid', 'ip']),
  value: z.string(),
  sourceLicenseId: id.nullable(),
  createdAt: timestamp,
});
export const bansAnswer = z.strictObject({
  success: z.literal(true),
  bans: z.array(ban),
  nextCursor: z.string().nullable(),
});

const logEntry = z.strictObject({
  id,
  applicationId: id.nullable(),
  event: z.string(),
  code: z.string().nullable(),
  licenseId: id.nullable(),
  userId: id.nullable(),
  ip: z.string().nullable(),
  country: z.string().nullable(),
  hwid: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  createdAt: timestamp,
  actor: z
    .strictObject({
      kind: z.enum(['session', 'api_key', 'client', 'operator', 'system']),
      id: id.nullable(),
      name: z.string().nullable(),
    })
    .nullable(),
});
export const logsAnswer = z.strictObject({
  success: z.literal(true),
  logs: z.array(logEntry),
  nextCursor: z.string().nullable(),
});

export const metricsAnswer = z.strictObject({
  success: z.literal(true),
  metrics: z.strictObject({
    applications: z.strictObject({ total: z.int(), active: z.int(), disabled: z.int() }),
    licenses: z.strictObject({
      total: z.int(),
      unused: z.int(),
      active: z.int(),
      suspended: z.int(),
      expired: z.int(),
      banned: z.int(),
    }),
    validations24h: z.strictObject({ total: z.int(), byCode: z.record(z.string(), z.int()) }),
  }),
});

export const blindAnswer = z.strictObject({
  success: z.literal(true),
  keys: z.array(
    z.strictObject({ id, keyPrefix: z.string(), durationSeconds: z.int(), subscriptionTier: z.int() }),
  ),
});

const listedApiKey = z.strictObject({
  id,
  name: z.string(),
  keyPrefix: z.string(),
  ...apiKeyGrant,
  createdAt: timestamp,
  last_used_at: timestamp.nullable(),
  revoked: z.boolean(),
});
export const listedApiKeyAnswer = z.strictObject({ success: z.literal(true), key: listedApiKey });
export const apiKeysAnswer = z.strictObject({
  success: z.literal(true),
  keys: z.array(listedApiKey),
  nextCursor: z.string().nullable(),
});

export const userExportAnswer = z.strictObject({
  success: z.literal(true),
  export: z.strictObject({
    exportedAt: timestamp,
    applicationId: id,
    users: z.array(
      endUser.extend({
        license: license
          .pick({
            id: true,
            keyPrefix: true,
            status: true,
            expiresAt: true,
            subscriptionTier: true,
            hwid: true,
            lastIp: true,
          })
          .extend({ devices: z.array(device) })
          .nullable(),
        sessions: z.array(
          z.strictObject({
            id,
            ip: z.string().nullable(),
            hwid: z.string().nullable(),
            createdAt: timestamp,
            expiresAt: timestamp,
          }),
        ),
      }),
    ),
    bans: z.array(ban),
    securityLog: z.array(logEntry),
  }),
});

const accountSession = z.strictObject({
  id,
  current: z.boolean(),
  ip: z.string().nullable(),
  country: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: timestamp,
  lastSeenAt: timestamp,
  expiresAt: timestamp,
});
export const sessionsAnswer = z.strictObject({
  success: z.literal(true),
  sessions: z.array(accountSession),
  nextCursor: z.string().nullable(),
});

export const strictWebhook = z.strictObject({
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  applicationId: z.string().nullable(),
  description: z.string(),
  enabled: z.boolean(),
  disabledAt: z.iso.datetime().nullable(),
  disabledReason: z.enum(['vendor', 'gone', 'failing']).nullable(),
  failingSince: z.iso.datetime().nullable(),
  lastSuccessAt: z.iso.datetime().nullable(),
  previousSecretUntil: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const accountExportAnswer = z.strictObject({
  success: z.literal(true),
  export: z.strictObject({
    exportedAt: timestamp,
    developer,
    applications: z.array(application),
    licenses: z.array(license.extend({ devices: z.array(device) })),
    policies: z.array(policy),
    users: z.array(endUser),
    bans: z.array(ban.extend({ applicationId: id })),
    apiKeys: z.array(listedApiKey),
    sessions: z.array(accountSession.omit({ current: true })),
    webhooks: z.array(strictWebhook),
    securityLog: z.array(logEntry),
  }),
});

/** The id of nothing. */
export const missingId = '0198c3a0-0000-7000-8000-000000000000';

/** JSON text of exactly `size` bytes: whitespace, then these members. */
export function paddedTo(size: number, members: object): string {
  const text = JSON.stringify(members);
  return `{${' '.repeat(size - Buffer.byteLength(text))}${text.slice(1)}`;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Sends the body in chunks, without a declared length. */
  readonly chunked?: boolean;
}

/** Sends a request with exactly these headers. A response before the end of the body is accepted. */
export function sendRaw(server: TestServer, options: RawRequest): Promise<ApiAnswer> {
  const { method, path, headers = {}, body, chunked = false } = options;
  return new Promise((resolve, reject) => {
    let answered = false;
    const length = body === undefined || chunked ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      server.baseUrl,
      { method, path, headers: { ...length, ...headers }, agent: false },
      (response) => {
        answered = true;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answerHeaders = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct)) {
            for (const value of values ?? []) answerHeaders.append(name, value);
          }
          resolve({
            status: response.statusCode ?? 0,
            headers: answerHeaders,
            body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
          });
          outgoing.destroy();
        });
      },
    );
    outgoing.on('error', (error) => {
      if (!answered) reject(error);
    });
    if (body === undefined) outgoing.end();
    else if (!chunked) outgoing.end(body);
    else {
      const bytes = Buffer.from(body);
      for (let start = 0; start < bytes.length; start += 65_536) {
        outgoing.write(bytes.subarray(start, start + 65_536));
      }
      outgoing.end();
    }
  });
}

/** Runs a step for each item, a few at a time, in no particular order. */
export async function forEachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  step: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.map((item, index) => ({ item, index }));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await step(next.item, next.index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const naughtyFile = fileURLToPath(new URL('../../../shared/vectors/naughty-strings.json', import.meta.url));

/** The big list of naughty strings; null if the folder of public vectors is missing. */
export function naughtyStrings(): readonly string[] | null {
  if (!existsSync(naughtyFile)) {
    process.stderr.write(`Skipped: the naughty strings, for want of ${naughtyFile}.\n`);
    return null;
  }
  return z.array(z.string()).parse(JSON.parse(readFileSync(naughtyFile, 'utf8')));
}
