import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { utf8 } from '../../src/protocol/bytes.ts';
import {
  clientAuthResult,
  type InnerHead,
  innerListDevicesRequest,
  innerLoginRequest,
  innerMoveDeviceRequest,
  innerRegisterRequest,
  innerReleaseDeviceRequest,
  innerUpgradeRequest,
  innerValidateRequest,
  listDevicesResult,
  moveDeviceResult,
  releaseDeviceResult,
  validateResult,
} from '../../src/protocol/messages.ts';
import { openSession } from '../../src/sdk/handshake.ts';
import { createPostJson } from '../../src/sdk/http.ts';
import { parseOptions } from '../../src/sdk/options.ts';
import { openSealedAnswer } from '../../src/sdk/sealed-answer.ts';
import { sealedVectors } from '../protocol/sealed-vectors.ts';
import { judgeRequest } from './judge.ts';

const { exchange } = sealedVectors;
const settings = parseOptions({
  baseUrl: 'http://127.0.0.1',
  appId: exchange.appId,
  publicKeyB64: exchange.publicKeyB64,
  version: '1.0.0',
  now: () => exchange.now * 1000,
});
const sentNonce: string = JSON.parse(exchange.validate.innerRequest).nonce;

describe('a handshake whose answer is', () => {
  it.each(sealedVectors.handshakes)('$why: $expect', async ({ answer, expect: expected }) => {
    const post = createPostJson(settings.baseUrl, async () => Response.json(answer));
    const outcome = await openSession(settings, post, new AbortController().signal);
    expect(outcome.kind === 'session' ? 'session' : outcome.reason).toBe(expected);
  });
});

/** A client's result for an answer to a request with this nonce. */
function judgeAnswer(
  answer: unknown,
  nonce: string,
  result: z.ZodType<{ readonly success: boolean }>,
  request: Uint8Array | null = null,
): string {
  const session = {
    kind: 'session',
    sessionId: exchange.sessionId,
    key: exchange.sessionKeyHex,
    openedAt: exchange.now * 1000,
  } as const;
  const outcome = openSealedAnswer(answer, { session, nonce, request, result, settings });
  if (outcome.kind === 'failure') return outcome.reason;
  return outcome.inner.success ? 'valid' : 'refused';
}

/** A server's result for a request in a known session. */
function judgeSealed(
  request: unknown,
  usedNonce: string | null,
  schema: z.ZodType<InnerHead> = innerValidateRequest,
  call = 'validate',
): string {
  const context = {
    keyOf: (sessionId: string) => (sessionId === exchange.sessionId ? exchange.sessionKeyHex : undefined),
    now: exchange.now,
    useNonce: (_session: string, nonce: string) => nonce !== usedNonce,
  };
  const judgement = judgeRequest(request, context, schema, call);
  switch (judgement.kind) {
    case 'accepted':
      return 'accept';
    case 'malformed':
      return 'sealed VALIDATION_FAILED';
    case 'plaintext':
      return judgement.code;
  }
}

describe('a sealed answer that is', () => {
  it.each(sealedVectors.answers)('$why: $expect', ({ answer, expect: expected }) => {
    expect(judgeAnswer(answer, sentNonce, validateResult)).toBe(expected);
  });
});

describe('to a client that asked for the hash of its request, a sealed answer that is', () => {
  const { innerRequest, answers } = sealedVectors.requestEcho;
  it.each(answers)('$why: $expect', ({ answer, expect: expected }) => {
    expect(judgeAnswer(answer, sentNonce, validateResult, utf8(innerRequest))).toBe(expected);
  });
});

describe('a request that is', () => {
  it.each(sealedVectors.requests)('$why: $expect', ({ request, expect: expected, nonceUsed }) => {
    expect(judgeSealed(request, nonceUsed ? sentNonce : null)).toBe(expected);
  });
});

const innerRequests = {
  register: innerRegisterRequest,
  login: innerLoginRequest,
  upgrade: innerUpgradeRequest,
  'devices.list': innerListDevicesRequest,
  'devices.release': innerReleaseDeviceRequest,
  'devices.move': innerMoveDeviceRequest,
};

const results = {
  register: clientAuthResult,
  login: clientAuthResult,
  upgrade: clientAuthResult,
  'devices.list': listDevicesResult,
  'devices.release': releaseDeviceResult,
  'devices.move': moveDeviceResult,
};

const exchanges = [...sealedVectors.clientAuth, ...sealedVectors.devices];

describe.each(exchanges)('$verb', ({ verb, innerRequest, requests, answers }) => {
  const { nonce }: { nonce: string } = JSON.parse(innerRequest);
  it.each(requests)('request, $why: $expect', ({ request, expect: expected, nonceUsed }) => {
    expect(judgeSealed(request, nonceUsed ? nonce : null, innerRequests[verb], verb)).toBe(expected);
  });
  it.each(answers)('answer, $why: $expect', ({ answer, expect: expected }) => {
    expect(judgeAnswer(answer, nonce, results[verb])).toBe(expected);
  });
});
