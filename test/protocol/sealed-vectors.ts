import { readFileSync } from 'node:fs';
import * as z from 'zod';

const hex = z.string().transform((text) => Uint8Array.from(Buffer.from(text, 'hex')));
const why = z.string();
const envelope = z.object({ ivB64: z.string(), ciphertextB64: z.string(), tagB64: z.string() });
const signature = z.object({ publicKeyHex: hex, messageHex: hex, signatureHex: hex });

const sealedAnswer = envelope.extend({ signatureB64: z.string() });
const requests = z.array(
  z.object({ why, request: z.unknown(), expect: z.string(), nonceUsed: z.boolean().default(false) }),
);
const answers = z.array(
  z.object({ why, answer: z.unknown(), expect: z.string(), innerAnswer: z.string().optional() }),
);

const schema = z.object({
  base64: z.object({
    accept: z.array(z.object({ text: z.string(), hex })),
    reject: z.array(z.object({ why, text: z.string() })),
  }),
  canonicalJson: z.object({
    accept: z.array(z.object({ why, json: z.string(), canonical: z.string(), canonicalHex: hex })),
    reject: z.array(z.object({ why, json: z.string() })),
  }),
  keySchedule: z.array(
    z.object({ why, clientNonceHex: hex, serverNonceHex: hex, saltHex: hex, appId: z.string(), keyHex: hex }),
  ),
  seal: z.object({
    accept: z.array(envelope.extend({ why, keyHex: hex, plaintextHex: hex })),
    reject: z.array(envelope.extend({ why, keyHex: hex })),
  }),
  signature: z.object({
    accept: z.array(signature.extend({ seedHex: hex })),
    reject: z.array(signature.extend({ why })),
  }),
  exchange: z.object({
    now: z.number(),
    seedHex: hex,
    publicKeyB64: z.string(),
    appId: z.string(),
    sessionId: z.string(),
    init: z.object({ request: z.unknown(), answer: z.unknown(), signedText: z.string() }),
    sessionKeyHex: hex,
    validate: z.object({
      innerRequest: z.string(),
      request: envelope,
      innerAnswer: z.string(),
      answer: sealedAnswer,
    }),
  }),
  handshakes: z.array(z.object({ why, answer: z.unknown(), expect: z.string() })),
  requests,
  answers,
  requestEcho: z.object({
    innerRequest: z.string(),
    request: envelope,
    innerAnswer: z.string(),
    answer: sealedAnswer,
    answers,
  }),
  clientAuth: exchangesOf(['register', 'login', 'upgrade']),
  devices: exchangesOf(['devices.list', 'devices.release', 'devices.move']),
});

/** One complete exchange of each verb, with further requests and answers. */
function exchangesOf<Verb extends string>(verbs: readonly Verb[]) {
  return z
    .array(
      z.object({
        verb: z.enum(verbs),
        path: z.string(),
        innerRequest: z.string(),
        request: envelope,
        innerAnswer: z.string(),
        answer: sealedAnswer,
        requests,
        answers,
      }),
    )
    .length(verbs.length);
}

const sealedVectorsFile = new URL('../vectors/sealed-v1.json', import.meta.url);

/** The committed vectors, with bytes for hex. */
export const sealedVectors = schema.parse(JSON.parse(readFileSync(sealedVectorsFile, 'utf8')));
