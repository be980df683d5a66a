import { bytesToHex } from '@noble/hashes/utils.js';
import { encodeBase64, encodeBase64Url } from '../../protocol/base64.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { canonicalJson, type JsonObject } from '../../protocol/canonical-json.ts';
import { sealEnvelope } from '../../protocol/envelope.ts';
import { deriveSessionKey } from '../../protocol/key-schedule.ts';
import { type SessionInitRequest, sessionInitSignedPart } from '../../protocol/messages.ts';
import { getPublicKey, signBytes } from '../../protocol/signature.ts';
import { fixedBytes } from './material.ts';

/** The exchange that the session's vectors use: an application, a handshake and a clock. */
export const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
export const now = 1_760_000_000;
export const sessionId = encodeBase64Url(fixedBytes('session ticket', 96));
export const requestNonce = encodeBase64(fixedBytes('request nonce', 16));
export const seed = fixedBytes('application seed', 32);
export const publicKey = getPublicKey(seed);

const clientNonce = fixedBytes('exchange client nonce', 32);
const serverNonce = fixedBytes('exchange server nonce', 32);
const salt = fixedBytes('exchange salt', 32);
export const sessionKey = deriveSessionKey({ clientNonce, serverNonce, salt, appId });

export const initRequest: SessionInitRequest = {
  appId,
  clientNonceB64: encodeBase64(clientNonce),
  clientVersion: '1.0.0',
};

/** The server's answer to the handshake, or the same answer with another signature. */
export function initAnswer({
  timestamp = now,
  signingSeed = seed,
  signedAppId = appId,
  nonce = serverNonce,
} = {}) {
  const answer = {
    sessionId,
    serverNonceB64: encodeBase64(nonce),
    hkdfSaltB64: encodeBase64(salt),
    timestamp,
    v: 1 as const,
  };
  const signed = canonicalJson(sessionInitSignedPart(signedAppId, answer));
  const signatureB64 = encodeBase64(signBytes(utf8(signed), signingSeed));
  return { signed, answer: { success: true, ...answer, signatureB64 } };
}

export const goodRequest = {
  licenseKey: 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8',
  hwid: 'device-1',
  nonce: requestNonce,
  timestamp: now,
  v: 1,
  echoNonce: true,
};

/** The outer body for an inner text, sealed under its own IV. */
export function sealRequest(name: string, innerText: string, key: Uint8Array = sessionKey) {
  return { sessionId, ...sealEnvelope(key, utf8(innerText), fixedBytes(`request iv ${name}`, 12)) };
}

export const goodAnswer = {
  success: true,
  code: 'OK',
  message: 'Lizenz gültig',
  status: 'active',
  expiresAt: '2026-10-09T08:53:20.000Z',
  subscriptionTier: 2,
  sessionId,
  timestamp: now,
  v: 1,
  nonce: requestNonce,
} satisfies JsonObject;

/** The outer body for the bytes of an inner answer. The signature is over the same bytes by default. */
export function sealAnswer(
  name: string,
  innerText: string | Uint8Array,
  { key = sessionKey, signingSeed = seed, signedText = innerText } = {},
) {
  return {
    ...sealEnvelope(key, bytesOf(innerText), fixedBytes(`answer iv ${name}`, 12)),
    signatureB64: encodeBase64(signBytes(bytesOf(signedText), signingSeed)),
  };
}

const bytesOf = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? utf8(text) : text);

/** The successful exchange. */
export function exchangeVector() {
  const { signed, answer } = initAnswer();
  const innerRequest = JSON.stringify(goodRequest);
  const innerAnswer = canonicalJson(goodAnswer);
  return {
    now,
    seedHex: bytesToHex(seed),
    publicKeyB64: encodeBase64(publicKey),
    appId,
    sessionId,
    init: { request: initRequest, answer, signedText: signed },
    sessionKeyHex: bytesToHex(sessionKey),
    validate: {
      innerRequest,
      request: sealRequest('good', innerRequest),
      innerAnswer,
      answer: sealAnswer('good', innerAnswer),
    },
  };
}
