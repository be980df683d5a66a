import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Clock } from '../../src/lib/clock.ts';
import { decodeBase64, encodeBase64 } from '../../src/protocol/base64.ts';
import { openEnvelope, type SealedEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { deriveSessionKey } from '../../src/protocol/key-schedule.ts';
import { sessionInitResponse } from '../../src/protocol/messages.ts';
import { verifyBytes } from '../../src/protocol/signature.ts';
import { type ApiAnswer, ApiClient } from './api-client.ts';

/** A client that implements each step of SPEC separately, so that a test can do any of them wrong. */
export interface SealedSession {
  readonly sessionId: string;
  readonly sessionKey: Uint8Array;
  readonly client: ApiClient;
  /** A well-formed inner body with these members. */
  inner(members: Record<string, unknown>): Record<string, unknown>;
  seal(inner: unknown): SealedEnvelope & { sessionId: string };
  /** Seals and sends a body, and returns the decrypted and verified result. */
  ask(path: string, members: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Decrypts a sealed response and verifies its signature over exactly the sealed bytes. */
  open(answer: ApiAnswer): Record<string, unknown>;
}

const sealedAnswer = z.object({
  sessionId: z.string(),
  ivB64: z.string(),
  ciphertextB64: z.string(),
  tagB64: z.string(),
  signatureB64: z.string(),
});

export const validatePath = '/api/v1/licenses/validate';

export interface SessionOptions {
  readonly version?: string;
  readonly client?: ApiClient;
}

/** Opens a session with an application, from a separate address by default. */
export async function openSession(
  server: { readonly baseUrl: string; readonly clock: Clock },
  application: { readonly id: string; readonly version: string; readonly publicKeyB64: string },
  options: SessionOptions = {},
): Promise<SealedSession> {
  const client = options.client ?? new ApiClient(server.baseUrl);
  const clientNonce = new Uint8Array(randomBytes(32));
  const answer = await client.post('/api/v1/session/init', {
    appId: application.id,
    clientNonceB64: encodeBase64(clientNonce),
    clientVersion: options.version ?? application.version,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { sessionId, serverNonceB64, hkdfSaltB64 } = sessionInitResponse.parse(answer.body);
  const sessionKey = deriveSessionKey({
    clientNonce,
    serverNonce: bytes(serverNonceB64),
    salt: bytes(hkdfSaltB64),
    appId: application.id,
  });

  const inner = (members: Record<string, unknown>) => ({
    nonce: encodeBase64(new Uint8Array(randomBytes(16))),
    timestamp: Math.floor(server.clock.now() / 1000),
    v: 1,
    ...members,
  });
  const seal = (body: unknown) => ({
    sessionId,
    ...sealEnvelope(
      sessionKey,
      new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    ),
  });
  const open = (answer: ApiAnswer): Record<string, unknown> => {
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const sealed = sealedAnswer.parse(answer.body);
    const plaintext = openEnvelope(sessionKey, sealed);
    if (plaintext === null) throw new Error('the answer does not open under the session key');
    expect(verifyBytes(bytes(sealed.signatureB64), plaintext, bytes(application.publicKeyB64))).toBe(true);
    const result = z.record(z.string(), z.unknown()).parse(JSON.parse(new TextDecoder().decode(plaintext)));
    expect(result.sessionId).toBe(sessionId);
    return result;
  };
  return {
    sessionId,
    sessionKey,
    client,
    inner,
    seal,
    open,
    ask: async (path, members) => open(await client.post(path, seal(inner(members)))),
  };
}

function bytes(base64: string): Uint8Array {
  const decoded = decodeBase64(base64);
  if (decoded === null) throw new Error('the server sent malformed base64');
  return decoded;
}
