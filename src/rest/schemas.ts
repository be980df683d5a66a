import { z } from '@hono/zod-openapi';
import { defaultMessages, type MessageKey } from '../services/application/messages.ts';

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

export const licenseSchema = z
  .object({
    id: uuid,
    applicationId: uuid,
    keyPrefix: z.string(),
    status: z.enum(['unused', 'active', 'expired', 'banned']),
    subscriptionTier: z.int(),
    durationSeconds: z
      .int()
      .openapi({ description: 'The term in seconds, counted from first use; 0 means unlimited.' }),
    activatedAt: timestamp.nullable(),
    expiresAt: timestamp.nullable(),
    hwid: z.string().nullable(),
    lastIp: z.string().nullable(),
    note: z.string().nullable(),
    noteCiphertextB64: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi('License');

export const apiKeySchema = z
  .object({
    id: uuid,
    name: z.string(),
    apiKey: z.string().openapi({ description: 'The key in plain text. It is shown only once.' }),
    keyPrefix: z.string(),
    createdAt: timestamp,
  })
  .openapi('CreatedApiKey');

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
    createdAt: timestamp,
    last_used_at: timestamp.nullable(),
    revoked: z.boolean(),
  })
  .openapi('ApiKey');

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
  })
  .openapi('SecurityLogEntry');

export const metricsSchema = z
  .object({
    applications: z.object({ total: z.int(), active: z.int(), disabled: z.int() }),
    licenses: z.object({
      total: z.int(),
      unused: z.int(),
      active: z.int(),
      expired: z.int(),
      banned: z.int(),
    }),
    validations24h: z.object({
      total: z.int(),
      byCode: z.record(z.string(), z.int()).openapi({ example: { OK: 41, EXPIRED: 1 } }),
    }),
  })
  .openapi('Metrics');

const exportedLicenseSchema = licenseSchema.pick({
  id: true,
  keyPrefix: true,
  status: true,
  expiresAt: true,
  subscriptionTier: true,
  hwid: true,
  lastIp: true,
});

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
    licenses: z.array(licenseSchema),
    users: z.array(endUserSchema),
    bans: z.array(banSchema.extend({ applicationId: uuid })),
    apiKeys: z.array(listedApiKeySchema),
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
export const nextCursorSchema = z.string().nullable();

/** Schema of a success body: `success: true` plus these members. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ success, ...shape });
