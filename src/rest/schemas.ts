import { z } from '@hono/zod-openapi';
import { defaultMessages, type MessageKey } from '../services/application/messages.ts';
import { skipCodes } from '../services/license/change-in-slices.ts';
import { scopes } from '../services/scopes.ts';
import { actorKinds } from '../services/security-log/actor.ts';

/** Response schemas of the routes, with their names in the OpenAPI document. */

export const timestamp = z.iso.datetime().openapi({ example: '2026-01-31T12:00:00.000Z' });
const uuid = z.uuid().openapi({ example: '019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a4d' });
const success = z.literal(true);

export const failureSchema = z
  .object({
    success: z.literal(false),
    error: z.string().openapi({ description: 'Human-readable message.' }),
    code: z.string().openapi({ description: 'Machine-readable error code.' }),
    issues: z
      .array(z.object({ path: z.array(z.union([z.string(), z.int()])), message: z.string() }))
      .optional()
      .openapi({ description: 'With VALIDATION_FAILED and KEY_EXISTS: every problem and its path.' }),
    requestId: z
      .string()
      .optional()
      .openapi({ description: 'With INTERNAL: the id to quote to the operator.' }),
  })
  .openapi('Failure');

export const developerSchema = z
  .object({
    id: uuid,
    email: z.string().openapi({ example: 'ada@example.com' }),
    name: z.string().openapi({ example: 'Ada' }),
    keyCreationMode: z.enum(['default', 'private']).openapi({
      description: 'Where license keys are generated: `default` by the service, `private` in the browser.',
    }),
    licenseMask: z.string().nullable().openapi({
      description:
        "The mask of license keys that are created without one; null if the service's default applies.",
    }),
    createdAt: timestamp,
  })
  .openapi('Developer');

const messageKeys = Object.keys(defaultMessages) as [MessageKey, ...MessageKey[]];

export const applicationSchema = z
  .object({
    id: uuid,
    name: z.string().openapi({ example: 'Photo Lab' }),
    version: z.string().openapi({ example: '1.0.0' }),
    status: z.enum(['active', 'disabled']),
    hwidLockEnabled: z.boolean(),
    requireLicenseToRegister: z.boolean(),
    registrationEnabled: z.boolean(),
    protocol: z.enum(['any', 'v2_only']),
    leasesEnabled: z.boolean().openapi({
      description:
        'Whether clients get offline leases: signed texts that let a program continue without the network.',
    }),
    leaseDays: z.int().openapi({ description: 'The term of a lease in days: 1 to 30.', example: 7 }),
    responseMessages: z.record(z.enum(messageKeys), z.string()).openapi({
      required: messageKeys,
      description: 'All texts that clients are shown: yours, and the defaults for the others.',
    }),
    publicKeyB64: z
      .string()
      .openapi({ description: 'Base64 of the 32 raw bytes of the Ed25519 public key; clients embed it.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('Application');

export const sdkHintSchema = z
  .object({
    baseUrl: z.string(),
    appId: uuid,
    version: z.string(),
    publicKeyB64: z.string(),
    protocol: z.literal(2).openapi({ description: 'The version of the client protocol.' }),
    snippet: z.string().openapi({ description: 'TypeScript code that validates a license with the SDK.' }),
  })
  .openapi('SdkHint');

export const mintedLicenseSchema = z
  .object({
    id: uuid,
    licenseKey: z.string().openapi({ description: 'The key in plain text. It is shown only once.' }),
    keyPrefix: z.string(),
    durationSeconds: z.int(),
    subscriptionTier: z.int(),
  })
  .openapi('MintedLicense');

/** A value of an entitlement or of metadata. */
export const valueSchema = z.union([z.boolean(), z.int(), z.string()]);

export const licenseSchema = z
  .object({
    id: uuid,
    applicationId: uuid,
    keyPrefix: z.string(),
    status: z.enum(['unused', 'active', 'suspended', 'expired', 'banned']),
    subscriptionTier: z.int(),
    durationSeconds: z
      .int()
      .openapi({ description: 'The term in seconds, counted from first use; 0 means unlimited.' }),
    activatedAt: timestamp.nullable(),
    expiresAt: timestamp.nullable(),
    graceSeconds: z.int().openapi({ description: 'How long it is still valid after `expiresAt`.' }),
    graceEndsAt: timestamp
      .nullable()
      .openapi({ description: 'When its grace ends; null unless it is only valid because of it.' }),
    suspendedAt: timestamp.nullable(),
    suspensionReason: z.string().nullable(),
    clockStopped: z.boolean().openapi({ description: 'Whether the suspension keeps the remaining term.' }),
    hwid: z.string().nullable().openapi({ description: 'The oldest of its devices.' }),
    deviceLimit: z.int().openapi({ description: 'How many devices may be bound at a time: 1 to 1,000.' }),
    deviceCount: z.int().openapi({ description: 'How many devices are bound.' }),
    overLimit: z.boolean().openapi({
      description: 'Whether more devices are bound than the limit allows, because it was lowered.',
    }),
    selfService: z.enum(['off', 'key', 'account']).openapi({
      description:
        'Who may list, release and move its devices besides you: no one, anyone with its key, or its account.',
    }),
    moves: z
      .object({ count: z.int(), periodSeconds: z.int() })
      .nullable()
      .openapi({ description: 'How many moves a customer has within a period; null for any number.' }),
    cooldownSeconds: z
      .int()
      .openapi({ description: 'How long a customer waits after a move for the next one.' }),
    releaseIdleAfterSeconds: z.int().nullable().openapi({
      description:
        'A device that was not used for so long gives its place to a new one; null: it never does.',
    }),
    leaseSeconds: z
      .int()
      .nullable()
      .openapi({ description: "The term of its leases in seconds; null: the application's." }),
    policyId: uuid.nullable().openapi({
      description: 'The policy that it was created by, or that was applied last; it may have been deleted.',
    }),
    entitlements: z.record(z.string(), valueSchema).openapi({ description: 'Inside the signed answers.' }),
    metadata: z
      .object({ client: z.record(z.string(), valueSchema), private: z.record(z.string(), valueSchema) })
      .openapi({ description: '`client` is inside the signed answers, `private` is only for you.' }),
    tags: z.array(z.string()),
    lastIp: z.string().nullable(),
    note: z.string().nullable(),
    noteCiphertextB64: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('License');

/** A license as it is read, and not as the answer to a change: that does not look at devices. */
export const seenLicenseSchema = licenseSchema
  .extend({
    lastSeenAt: timestamp.nullable().openapi({
      description:
        'When any of its devices was last accepted, to the minute, also a released one; null if it was not used on a device.',
    }),
  })
  .openapi('SeenLicense');

export const deviceSchema = z
  .object({
    id: uuid,
    hwid: z.string().nullable().openapi({ description: 'Null while only its hash is known.' }),
    name: z.string().nullable().openapi({ description: 'From the program, its user, or you.' }),
    platform: z.string().nullable().openapi({ description: 'As the program names it.' }),
    firstSeenAt: timestamp,
    lastSeenAt: timestamp.openapi({ description: 'To the minute.' }),
    lastIp: z.string().nullable(),
    country: z
      .string()
      .nullable()
      .openapi({ description: 'The country of `lastIp` (ISO 3166-1 alpha-2); null if unknown.' }),
    state: z.enum(['active', 'released']),
    releasedAt: timestamp.nullable(),
    releasedBy: z.enum(['vendor', 'customer', 'idle']).nullable().openapi({
      description:
        'You, a customer, or the service because the device was not used; null while it is active.',
    }),
  })
  .openapi('Device');

export const webhookSchema = z
  .object({
    id: uuid,
    url: z.string().openapi({ example: 'https://hooks.example.com/latchkey' }),
    types: z.array(z.string()).openapi({ example: ['license.*'] }),
    applicationId: uuid.nullable().openapi({ description: 'Only events of this application; null for all.' }),
    description: z.string(),
    enabled: z.boolean(),
    disabledAt: timestamp.nullable(),
    disabledReason: z
      .enum(['vendor', 'gone', 'failing'])
      .nullable()
      .openapi({
        description:
          'You (`vendor`), or the service, because the receiver answered 410 (`gone`) or no attempt succeeded for 72 hours ' +
          '(`failing`).',
      }),
    failingSince: timestamp.nullable().openapi({
      description: 'The first attempt that failed since the last that succeeded.',
    }),
    lastSuccessAt: timestamp.nullable().openapi({ description: 'To the minute.' }),
    previousSecretUntil: timestamp.nullable().openapi({
      description: 'Until then, messages have a signature with the previous secret too.',
    }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('Webhook');

export const deliverySchema = z
  .object({
    id: uuid,
    webhookId: uuid,
    eventId: uuid.openapi({ description: 'The `webhook-id` of the message, and the `id` of its event.' }),
    eventType: z.string().openapi({ example: 'license.banned' }),
    status: z.enum(['pending', 'succeeded', 'failed']),
    attempts: z.int().openapi({ description: 'Attempts that have begun.' }),
    nextAttemptAt: timestamp.nullable().openapi({ description: 'Null after the last attempt.' }),
    lastAttemptAt: timestamp.nullable(),
    latencyMilliseconds: z
      .int()
      .nullable()
      .openapi({ description: 'How long the last attempt took; null before the first.' }),
    statusCode: z.int().nullable().openapi({ description: 'HTTP status; null without a response.' }),
    answer: z
      .string()
      .nullable()
      .openapi({ description: 'The first 1,024 bytes of the response body; null without a response.' }),
    error: z.string().nullable().openapi({ description: 'Why the last attempt failed.' }),
    createdAt: timestamp,
  })
  .openapi('WebhookDelivery');

export const policySchema = z
  .object({
    id: uuid,
    applicationId: uuid,
    code: z.string().openapi({ description: 'Unique within the application.', example: 'pro-yearly' }),
    name: z.string().openapi({ example: 'Pro, one year' }),
    durationSeconds: z.int().openapi({ description: 'The term in seconds; 0 means unlimited.' }),
    startsAt: z.enum(['first_use', 'creation']).openapi({ description: 'What starts the term.' }),
    ...licenseSchema.pick({
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
    keyMask: z.string().nullable().openapi({
      description: "The mask of its license keys; null if the account's applies.",
    }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('Policy');

/** What an API key opens. */
const apiKeyGrant = {
  scopes: z.array(z.enum(scopes)).openapi({ description: 'What the key may do.' }),
  applicationId: uuid
    .nullable()
    .openapi({ description: 'The only application that the key opens; null: all, and the account.' }),
  allowedCidrs: z
    .array(z.string())
    .openapi({ description: 'The networks that it may be used from; none: any.', example: ['192.0.2.0/24'] }),
  expiresAt: timestamp.nullable().openapi({ description: 'When it expires; null: never.' }),
  previousValidUntil: timestamp.nullable().openapi({
    description: 'When the token before the last rotation ends or ended; null if there was none.',
  }),
};

export const apiKeySchema = z
  .object({
    id: uuid,
    name: z.string(),
    apiKey: z.string().openapi({ description: 'The key in plain text. It is shown only once.' }),
    keyPrefix: z.string(),
    ...apiKeyGrant,
    createdAt: timestamp,
  })
  .openapi('CreatedApiKey');

export const accountSessionSchema = z
  .object({
    id: uuid,
    current: z.boolean().openapi({ description: "Whether the request came with this session's cookie." }),
    ip: z.string().nullable().openapi({ description: 'The address of the login.', example: '192.0.2.7' }),
    country: z.string().nullable().openapi({ description: 'ISO 3166-1 alpha-2.', example: 'SE' }),
    userAgent: z.string().nullable().openapi({ description: 'Of the login; at most 300 characters.' }),
    createdAt: timestamp,
    lastSeenAt: timestamp,
    expiresAt: timestamp,
  })
  .openapi('AccountSession');

export const securitySchema = z
  .object({
    totpEnabled: z.boolean().openapi({ description: 'Whether a login needs a code.' }),
    recoveryCodesLeft: z.int().openapi({ description: 'How many recovery codes are unused.', example: 10 }),
    requireConfirmation: z.boolean().openapi({
      description: 'Whether dangerous acts by a session need a confirmation although TOTP is off.',
    }),
  })
  .openapi('AccountSecurity');

export const blindLicenseSchema = mintedLicenseSchema.omit({ licenseKey: true }).openapi('BlindLicense');

export const endUserSchema = z
  .object({
    id: uuid,
    applicationId: uuid,
    username: z.string().openapi({ example: 'grace' }),
    email: z.string().nullable(),
    licenseId: uuid.nullable(),
    subscriptionTier: z
      .int()
      .nullable()
      .openapi({ description: 'The tier of the linked license; null without a license.' }),
    lastIp: z.string().nullable(),
    lastHwid: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('EndUser');

export const banSchema = z
  .object({
    id: uuid,
    banType: z.enum(['hwid', 'ip']),
    value: z.string().openapi({ description: 'The banned HWID or IP address.', example: '192.0.2.7' }),
    sourceLicenseId: uuid.nullable().openapi({
      description: 'The license whose ban created this one; null once that license is deleted.',
    }),
    createdAt: timestamp,
  })
  .openapi('Ban');

export const listedApiKeySchema = z
  .object({
    id: uuid,
    name: z.string(),
    keyPrefix: z.string(),
    ...apiKeyGrant,
    createdAt: timestamp,
    last_used_at: timestamp.nullable(),
    revoked: z.boolean(),
  })
  .openapi('ApiKey');

const logActorSchema = z
  .object({
    kind: z.enum(actorKinds),
    id: uuid
      .nullable()
      .openapi({ description: 'The id of the session or the API key; null for other kinds.' }),
    name: z.string().nullable().openapi({
      description: 'The name that the developer or the API key had at that time; null without a name.',
    }),
  })
  .openapi('LogActor', { description: 'Who caused a log entry.' });

export const securityLogEntrySchema = z
  .object({
    id: uuid,
    applicationId: uuid.nullable(),
    event: z.string().openapi({ description: 'What happened.', example: 'license_validated' }),
    code: z.string().nullable().openapi({
      description: "The verdict on a client's request; null for actions of a developer.",
      example: 'OK',
    }),
    licenseId: uuid.nullable(),
    userId: uuid.nullable(),
    ip: z.string().nullable(),
    country: z
      .string()
      .nullable()
      .openapi({ description: 'The country of the IP address (ISO 3166-1 alpha-2); null if unknown.' }),
    hwid: z.string().nullable(),
    metadata: z.unknown().openapi({
      type: 'object',
      additionalProperties: true,
      description: 'More about the event, depending on its kind.',
    }),
    createdAt: timestamp,
    actor: logActorSchema
      .nullable()
      .openapi({ description: 'Null in entries from before this was recorded.' }),
  })
  .openapi('SecurityLogEntry');

export const eventSchema = z
  .object({
    id: uuid,
    type: z.string().openapi({ description: 'What happened.', example: 'license.suspended' }),
    timestamp,
    sequence: z
      .int()
      .openapi({ description: '1, 2, 3 … of the account, in the order of the commits, without gaps.' }),
    applicationId: uuid.nullable(),
    subject: z
      .object({ kind: z.string().openapi({ example: 'license' }), id: uuid.nullable() })
      .openapi({ description: 'What it is about.' }),
    data: z.unknown().openapi({
      type: 'object',
      additionalProperties: true,
      description: 'More about it, depending on its type. Never a license key, a password or a token.',
    }),
  })
  .openapi('Event');

const licenseCountsSchema = z.object({
  total: z.int(),
  unused: z.int(),
  active: z.int(),
  suspended: z.int(),
  expired: z.int(),
  banned: z.int(),
});

export const metricsSchema = z
  .object({
    applications: z.object({ total: z.int(), active: z.int(), disabled: z.int() }),
    licenses: licenseCountsSchema,
    validations24h: z.object({
      total: z.int(),
      byCode: z.record(z.string(), z.int()).openapi({ example: { OK: 41, EXPIRED: 1 } }),
    }),
  })
  .openapi('Metrics');

export const metricsHistorySchema = z
  .object({
    from: timestamp.openapi({ description: 'The start of the first bucket.' }),
    to: timestamp.openapi({ description: 'The end of the last bucket, which is in the future.' }),
    bucketSeconds: z.int(),
    validations: z.array(z.object({ startsAt: timestamp, code: z.string(), count: z.int() })).openapi({
      description: 'Verdicts by bucket and code, oldest first; those that did not occur are omitted.',
    }),
    activations: z
      .array(z.object({ startsAt: timestamp, count: z.int() }))
      .openapi({ description: 'First uses of licenses in every bucket, oldest first.' }),
    expiries: z.array(z.object({ day: timestamp, count: z.int() })).openapi({
      description: 'Active licenses that will expire, on each of the next 90 days in UTC, from today on.',
    }),
    licenses: licenseCountsSchema.openapi({ description: 'The licenses as they are now.' }),
  })
  .openapi('MetricsHistory');

const exportedLicenseSchema = licenseSchema
  .pick({
    id: true,
    keyPrefix: true,
    status: true,
    expiresAt: true,
    subscriptionTier: true,
    hwid: true,
    lastIp: true,
  })
  .extend({ devices: z.array(deviceSchema) });

const exportedUserSchema = endUserSchema.extend({
  license: exportedLicenseSchema.nullable(),
  sessions: z.array(
    z.object({
      id: uuid,
      ip: z.string().nullable(),
      hwid: z.string().nullable(),
      createdAt: timestamp,
      expiresAt: timestamp,
    }),
  ),
});

export const endUserExportSchema = z
  .object({
    exportedAt: timestamp,
    applicationId: uuid,
    users: z.array(exportedUserSchema),
    bans: z.array(banSchema),
    securityLog: z.array(securityLogEntrySchema).openapi({ description: 'The newest 10,000 entries.' }),
  })
  .openapi('EndUserExport');

export const accountExportSchema = z
  .object({
    exportedAt: timestamp,
    developer: developerSchema,
    applications: z.array(applicationSchema),
    licenses: z.array(licenseSchema.extend({ devices: z.array(deviceSchema) })),
    users: z.array(endUserSchema),
    policies: z.array(policySchema),
    bans: z.array(banSchema.extend({ applicationId: uuid })),
    apiKeys: z.array(listedApiKeySchema),
    sessions: z.array(accountSessionSchema.omit({ current: true })),
    webhooks: z.array(webhookSchema),
    securityLog: z.array(securityLogEntrySchema).openapi({ description: 'The newest 10,000 entries.' }),
  })
  .openapi('AccountExport');

export const sealedAnswerSchema = z
  .object({
    sessionId: z.string(),
    ivB64: z.string(),
    ciphertextB64: z.string(),
    tagB64: z.string(),
    signatureB64: z.string().openapi({ description: 'Ed25519 signature over the sealed canonical JSON.' }),
  })
  .openapi('SealedAnswer');

/** The cursor in an answer with a page of a list; null on the last page. */
const licenseResult = z.object({
  id: z.string().openapi({ format: 'uuid', description: 'The id, as it was sent or found.' }),
  outcome: z.enum(['changed', 'skipped']),
  code: z.enum(skipCodes).optional().openapi({ description: 'Why it is skipped.' }),
});

const bulkCounts = {
  matched: z.int().openapi({ description: 'The number of selected licenses that the application has.' }),
  changed: z.int().openapi({ description: 'How many of them were changed, or would be.' }),
  skipped: z.int().openapi({ description: 'The number of selected ids that are not changed.' }),
  skippedByCode: z
    .partialRecord(z.enum(skipCodes), z.int())
    .openapi({ description: 'The number of skipped licenses by code.', example: { UNCHANGED: 2 } }),
};

export const bulkPreviewSchema = z
  .object({
    success,
    dryRun: z.literal(true),
    ...bulkCounts,
    sample: z.array(licenseResult.extend({ keyPrefix: z.string().nullable() })).openapi({
      description: 'The first licenses, at most 20. `keyPrefix` is null for a license that is not found.',
    }),
    ids: z.array(uuid).openapi({ description: 'The licenses that would be changed.' }),
  })
  .openapi('BulkPreview');

export const bulkRunSchema = z
  .object({
    success,
    dryRun: z.literal(false),
    ...bulkCounts,
    results: z.array(licenseResult).openapi({ description: 'A result for each selected license.' }),
  })
  .openapi('BulkRun');

export const nextCursorSchema = z.string().nullable();

/** Schema of a success body: `success: true` plus these members. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ success, ...shape });
