import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { sealAesGcm } from '../../src/crypto/aead.ts';
import type { JsonObject } from '../../src/protocol/canonical-json.ts';
import { formatEnvelope } from '../../src/protocol/envelope.ts';
import { openSession, type Session } from '../../src/sdk/handshake.ts';
import { createPostJson } from '../../src/sdk/http.ts';
import { type ClientOptions, parseOptions, type Settings } from '../../src/sdk/options.ts';
import { openSealedAnswer } from '../../src/sdk/sealed-answer.ts';

/** Client software of many devices: it has several sessions, and seals requests as fast as it can. */
export interface SealedClient {
  /** Opens sessions, or others once these are old. Call it before a block. @throws {Error} when it is refused */
  refresh(): Promise<void>;
  /** A request with these members, in the next session; never the same twice. */
  seal(members: JsonObject): SealedRequest;
  /** What is wrong with the answer to a request, by all that the SDK checks; or null. */
  faultOf(body: unknown, sent: SealedRequest, result: z.ZodType): string | null;
}

/** A sealed request, with what its answer is checked against. */
export interface SealedRequest {
  /** The outer body. */
  readonly body: SealedBody;
  readonly session: Session;
  readonly nonce: string;
  /** The plaintext. */
  readonly request: Uint8Array;
}

interface SealedBody {
  readonly sessionId: string;
  readonly ivB64: string;
  readonly ciphertextB64: string;
  readonly tagB64: string;
}

/** Sessions that are in use at once. */
const sessionCount = 64;
/** Well before the end of a session, which lives 15 minutes. */
const renewAfterMilliseconds = 8 * 60_000;

export function createSealedClient(options: ClientOptions): SealedClient {
  const settings = parseOptions(options);
  let sessions: readonly Session[] = [];
  let openedAt = Number.NEGATIVE_INFINITY;
  let turn = 0;

  return {
    refresh: async () => {
      if (performance.now() - openedAt < renewAfterMilliseconds) return;
      openedAt = performance.now();
      sessions = await Promise.all(Array.from({ length: sessionCount }, () => open(settings)));
    },
    seal: (members) => {
      const session = sessions[turn++ % sessions.length];
      if (session === undefined) throw new Error('No session is open');
      const nonce = randomBytes(16).toString('base64');
      const timestamp = Math.floor(Date.now() / 1000);
      const head = { nonce, timestamp, v: 1, echoNonce: true, echoRequest: true };
      const request = Buffer.from(JSON.stringify({ ...members, ...head }));
      const envelope = formatEnvelope(sealAesGcm(session.key, request));
      return { body: { sessionId: session.sessionId, ...envelope }, session, nonce, request };
    },
    faultOf: (body, { session, nonce, request }, result) => {
      const answer = openSealedAnswer(body, { session, nonce, request, result, settings });
      return answer.kind === 'answer' ? null : answer.message;
    },
  };
}

async function open(settings: Settings): Promise<Session> {
  const post = createPostJson(settings.baseUrl, settings.fetch);
  const session = await openSession(settings, post, AbortSignal.timeout(30_000));
  if (session.kind === 'failure') throw new Error(`No session could be opened: ${session.message}`);
  return session;
}
