import { sha256 } from '@noble/hashes/sha2.js';
import { signBytes } from '../../../protocol/signature.ts';
import { deriveContext, type HpkeContext, keyScheduleContext } from '../../../protocol/v2/hpke.ts';
import {
  padded,
  requestBytes,
  requestInfo,
  sealAnswer as sealBytes,
  signedAnswer,
} from '../../../protocol/v2/message.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId, seed } from '../exchange.ts';
import { fixedBytes } from '../material.ts';
import { goodRequest } from './calls.ts';
import { serviceKey } from './service.ts';
import { keyPairOf, sharedPointOf } from './x25519.ts';

/** A request as its client has it. */
export interface Exchange {
  readonly ephemeralPrivateKey: Uint8Array;
  readonly encapsulatedKey: Uint8Array;
  readonly sharedPoint: Uint8Array;
  readonly plaintext: Uint8Array;
  readonly body: Uint8Array;
  readonly sha256: Uint8Array;
  readonly context: HpkeContext;
}

/** Encrypts a plaintext under an ephemeral key of this name. */
export function exchangeOf(
  name: string,
  plaintext: Uint8Array,
  { keyId, publicKey }: { readonly keyId: number; readonly publicKey: Uint8Array } = serviceKey,
): Exchange {
  const ephemeral = keyPairOf(fixedBytes(`v2 ephemeral ${name}`, 32));
  const sharedPoint = sharedPointOf(ephemeral, publicKey);
  const encapsulatedKey = ephemeral.publicKey;
  const context = deriveContext({
    sharedPoint,
    encapsulatedKey,
    recipientKey: publicKey,
    scheduleContext: keyScheduleContext(requestInfo(keyId)),
  });
  if (context === null) throw new Error('The shared point is zero');
  const body = requestBytes({ keyId, encapsulatedKey, ciphertext: context.seal(plaintext) });
  return {
    ephemeralPrivateKey: ephemeral.privateKey,
    encapsulatedKey,
    sharedPoint,
    plaintext,
    body,
    sha256: sha256(body),
    context,
  };
}

/** The good request of each call. */
export const callExchange = (call: CallName): Exchange =>
  exchangeOf(call, padded(JSON.stringify(goodRequest(call))));

/** What an answer is made of, for the request of an exchange. */
export interface AnswerParts {
  readonly payload: Uint8Array;
  /** Default: the text that SPEC §6 prescribes. */
  readonly signed?: Uint8Array;
  readonly signingSeed?: Uint8Array;
  /** Default: made of the two above. */
  readonly signature?: Uint8Array;
}

export const signedFor = (exchange: Exchange, payload: Uint8Array): Uint8Array =>
  signedAnswer(appId, exchange.sha256, payload);

/** Encrypts an answer to the request of an exchange, with a nonce of this name. */
export function sealAnswer(
  name: string,
  exchange: Exchange,
  { payload, signed = signedFor(exchange, payload), signingSeed = seed, signature }: AnswerParts,
): Uint8Array {
  const nonce = fixedBytes(`v2 response nonce ${name}`, 32);
  return sealBytes(exchange, nonce, { signature: signature ?? signBytes(signed, signingSeed), payload });
}
