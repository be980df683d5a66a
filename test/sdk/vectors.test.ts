import { describe, expect, it } from 'vitest';
import { validateResult } from '../../src/protocol/messages.ts';
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

describe('a sealed answer that is', () => {
  it.each(sealedVectors.answers)('$why: $expect', ({ answer, expect: expected }) => {
    const session = {
      kind: 'session',
      sessionId: exchange.sessionId,
      key: exchange.sessionKeyHex,
      openedAt: exchange.now * 1000,
    } as const;
    const outcome = openSealedAnswer(answer, {
      session,
      nonce: sentNonce,
      result: validateResult,
      settings,
    });
    const verdict = outcome.kind === 'answer' && (outcome.inner.success ? 'valid' : 'refused');
    expect(outcome.kind === 'answer' ? verdict : outcome.reason).toBe(expected);
  });
});

describe('a request that is', () => {
  it.each(sealedVectors.requests)('$why: $expect', ({ request, expect: expected, nonceUsed }) => {
    const judgement = judgeRequest(request, {
      keyOf: (sessionId) => (sessionId === exchange.sessionId ? exchange.sessionKeyHex : undefined),
      now: exchange.now,
      useNonce: (_session, nonce) => !(nonceUsed && nonce === sentNonce),
    });
    const names = {
      accepted: 'accept',
      malformed: 'sealed VALIDATION_FAILED',
      plaintext: judgement.kind === 'plaintext' ? judgement.code : '',
    };
    expect(names[judgement.kind]).toBe(expected);
  });
});
