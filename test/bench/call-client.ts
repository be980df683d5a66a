import { createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { encodeBase64Url } from '../../src/crypto/base64.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { nativePrimitives } from '../../src/crypto/native-primitives.ts';
import type { JsonObject } from '../../src/protocol/canonical-json.ts';
import { keyPath, protocolVersion } from '../../src/protocol/v2/constants.ts';
import { deriveContext, keyScheduleContext } from '../../src/protocol/v2/hpke.ts';
import { readStatement, type ServiceKey } from '../../src/protocol/v2/key-statement.ts';
import {
  type AnswerSecret,
  openAnswer,
  padded,
  requestBytes,
  requestInfo,
} from '../../src/protocol/v2/message.ts';
import type { CallName } from '../../src/protocol/v2/messages.ts';
import { readAnswer } from '../../src/protocol/v2/read-answer.ts';
import { type ClientOptions, parseOptions, type Settings } from '../../src/sdk/options.ts';
import { generateKeyPair } from './key-pair.ts';

/** Client software that seals requests of version 2 as fast as it can. */
export interface CallClient {
  /** Fetches the key. Call it before a block. @throws {Error} when it is refused, or not the application's */
  refresh(): Promise<void>;
  /** A request, under a fresh ephemeral key. */
  seal(call: CallName, members: JsonObject): SentCall;
  /** Checks an answer to a request with success, by all that the SDK checks. */
  read(body: Uint8Array, sent: SentCall): ReadCall;
}

/** A request, with what its answer is checked against. */
export interface SentCall {
  readonly call: CallName;
  readonly body: Uint8Array;
  readonly secret: AnswerSecret;
}

/** Either what is wrong, or how long the JSON of the answer is without its padding. */
export type ReadCall = { readonly fault: string } | { readonly fault: null; readonly jsonBytes: number };

export function createCallClient(options: ClientOptions): CallClient {
  const settings = parseOptions(options);
  const { appId, publicKey, version } = settings;
  let recipient: Recipient | undefined;

  return {
    refresh: async () => {
      recipient = recipientOf(await fetchKey(settings));
    },
    seal: (call, members) => {
      if (recipient === undefined) throw new Error('No key was fetched');
      const time = Math.floor(Date.now() / 1000);
      const head = { v: protocolVersion, call, app: appId, version, time };
      return { call, ...sealFor(recipient, padded(JSON.stringify({ ...head, ...members }))) };
    },
    read: (body, { call, body: request, secret }) => {
      const read = readAnswer(body, { call, appId, publicKey, secret, sha256: sha256(request) });
      if (read.kind === 'none') return { fault: `The answer fails the check of its ${read.failed}` };
      if (!read.answer.success) return { fault: `${read.answer.code}: ${read.answer.message}` };
      return { fault: null, jsonBytes: jsonBytes(body, secret) };
    },
  };
}

function jsonBytes(body: Uint8Array, secret: AnswerSecret): number {
  const payload = openAnswer(secret, body)?.payload ?? new Uint8Array();
  return Buffer.from(payload).toString().trimEnd().length;
}

async function fetchKey({ baseUrl, appId, publicKey, fetch }: Settings): Promise<ServiceKey> {
  const answer = await fetch(baseUrl + keyPath(appId), { signal: AbortSignal.timeout(30_000) });
  const key = readStatement(new Uint8Array(await answer.arrayBuffer()), appId, publicKey);
  if (key === null) throw new Error(`The key statement is not valid; its status is ${answer.status}`);
  return key;
}

/** The key that requests are encrypted to, with what does not depend on the request. */
interface Recipient {
  readonly key: ServiceKey;
  readonly keyObject: KeyObject;
  readonly scheduleContext: Uint8Array;
}

const okp = { kty: 'OKP', crv: 'X25519' } as const;

const recipientOf = (key: ServiceKey): Recipient => ({
  key,
  keyObject: createPublicKey({ key: { ...okp, x: encodeBase64Url(key.publicKey) }, format: 'jwk' }),
  scheduleContext: keyScheduleContext(requestInfo(key.keyId)),
});

/** As the SDK does, but by Node's own code: thousands of requests are made before a block. */
function sealFor(
  { key, keyObject, scheduleContext }: Recipient,
  plaintext: Uint8Array,
): Omit<SentCall, 'call'> {
  const { privateKey, publicKeyBytes: encapsulatedKey } = generateKeyPair();
  const sharedPoint = diffieHellman({ privateKey, publicKey: keyObject });
  const agreement = { sharedPoint, encapsulatedKey, recipientKey: key.publicKey, scheduleContext };
  const context = deriveContext(agreement, nativePrimitives);
  if (context === null) throw new Error("The service's key is of small order");
  return {
    body: requestBytes({ keyId: key.keyId, encapsulatedKey, ciphertext: context.seal(plaintext) }),
    secret: { context, encapsulatedKey, primitives: nativePrimitives },
  };
}
