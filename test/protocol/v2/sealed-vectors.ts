import { readFileSync } from 'node:fs';
import * as z from 'zod';

const hex = z.string().transform((text) => Uint8Array.from(Buffer.from(text, 'hex')));
const why = z.string();
const check = z.string().optional();

const reader = {
  time: z.number().optional(),
  seen: z.object({ seq: z.number(), rev: z.number() }).optional(),
  nonce: z.string().optional(),
  publicKeyHex: hex.optional(),
};

const schema = z.object({
  now: z.number(),
  application: z.object({ appId: z.string(), seedHex: hex, publicKeyHex: hex, version: z.string() }),
  service: z.object({
    keyId: z.number(),
    privateKeyHex: hex,
    publicKeyHex: hex,
    statementHex: hex,
    newerStatementHex: hex,
  }),
  strictJson: z.object({
    accept: z.array(z.object({ why, json: z.string(), jsonHex: hex })),
    reject: z.array(z.object({ why, jsonHex: hex })),
  }),
  statements: z.object({
    accept: z.array(
      z.object({
        why,
        heldNotBefore: z.number().nullable(),
        notBefore: z.number(),
        notAfter: z.number(),
        keyId: z.number(),
        publicKeyHex: hex,
        signedHex: hex,
        statementHex: hex,
        statementB64: z.string(),
      }),
    ),
    reject: z.array(z.object({ why, statementHex: hex, failed: z.string(), publicKeyHex: hex.optional() })),
  }),
  calls: z.array(
    z.object({
      call: z.enum([
        'validate',
        'lease',
        'register',
        'login',
        'upgrade',
        'devices.list',
        'devices.release',
        'devices.move',
      ]),
      request: z.object({
        json: z.string(),
        plaintextHex: hex,
        ephemeralPrivateKeyHex: hex,
        encapsulatedKeyHex: hex,
        sharedPointHex: hex,
        infoHex: hex,
        scheduleContextHex: hex,
        keyHex: hex,
        nonceHex: hex,
        responseSecretHex: hex,
        bodyHex: hex,
        bodySha256Hex: hex,
      }),
      answer: z.object({
        json: z.string(),
        payloadHex: hex,
        signedHex: hex,
        signatureHex: hex,
        nonceHex: hex,
        answerKeyHex: hex,
        answerIvHex: hex,
        bodyHex: hex,
      }),
      answers: z.array(
        z.object({
          why,
          answerHex: hex,
          expect: z.string(),
          failed: check,
          learns: z.boolean().optional(),
          stores: z.boolean().optional(),
          publicKeyHex: hex.optional(),
        }),
      ),
    }),
  ),
  requests: z.array(
    z.object({ why, bodyHex: hex, expect: z.string(), encapsulatedKeyUsed: z.boolean().default(false) }),
  ),
  leases: z.object({
    reader: z.object({ hwid: z.string(), dev: z.string(), time: z.number() }),
    accept: z.array(z.object({ why, json: z.string(), lease: z.string(), ...reader })),
    reject: z.array(z.object({ why, lease: z.string(), failed: z.string(), ...reader })),
  }),
  revocations: z.object({
    reader: z.object({ time: z.number(), licenseId: z.string(), shortLicenseId: z.string() }),
    accept: z.array(
      z.object({
        why,
        json: z.string(),
        list: z.string(),
        leaseRev: z.number(),
        isRevoked: z.boolean(),
        seenRev: z.number().optional(),
      }),
    ),
    reject: z.array(
      z.object({
        why,
        list: z.string(),
        failed: z.string(),
        time: z.number().optional(),
        seenRev: z.number().optional(),
      }),
    ),
  }),
  deviceRequests: z.object({
    accept: z.array(
      z.object({ why, hwid: z.string(), dev: z.string(), nonce: z.string(), text: z.string() }),
    ),
    reject: z.array(z.object({ why, text: z.string() })),
  }),
});

const file = new URL('../../vectors/sealed-v2.json', import.meta.url);

/** The committed vectors of version 2, with bytes for hex. */
export const sealedV2Vectors = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
