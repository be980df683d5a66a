import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { sha256 } from '@noble/hashes/sha2.js';
import type { z } from 'zod';
import { decodeBase64, encodeBase64, encodeBase64Url } from '../../src/protocol/base64.ts';
import { randomBytes, utf8 } from '../../src/protocol/bytes.ts';
import { canonicalJson, type JsonObject } from '../../src/protocol/canonical-json.ts';
import { clientPaths } from '../../src/protocol/constants.ts';
import { sealEnvelope } from '../../src/protocol/envelope.ts';
import { deriveSessionKey } from '../../src/protocol/key-schedule.ts';
import {
  type InnerHead,
  innerLoginRequest,
  innerRegisterRequest,
  innerUpgradeRequest,
  innerValidateRequest,
  plaintextErrorStatus,
  sessionInitRequest,
  sessionInitSignedPart,
} from '../../src/protocol/messages.ts';
import { getPublicKey, signBytes } from '../../src/protocol/signature.ts';
import type { ClientOptions } from '../../src/sdk/index.ts';
import { type Judgement, judgeRequest } from './judge.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string | Uint8Array;
}
/** Returned by a handler that writes the response itself or leaves it open. */
export type TakeOver = (response: ServerResponse) => void;

export interface InitContext {
  /** The correct response. */
  good(): Reply;
  /** The same with other contents and a valid signature. */
  signed(change: { timestamp?: number; sessionId?: string; seed?: Uint8Array }): Reply;
}
export interface SealedContext {
  readonly judgement: Judgement;
  /** The accepted request. */
  readonly inner: JsonObject;
  good(): Reply;
  /** An inner object, correctly sealed and signed by default. */
  sealed(inner: JsonObject, change?: SealChange): Reply;
}
export interface SealChange {
  readonly seed?: Uint8Array;
  readonly key?: Uint8Array;
  /** The sealed text; canonical JSON by default. */
  readonly text?: string;
  /** The signed text; the sealed text by default. */
  readonly signedText?: string;
}
type Handler<Context> = (context: Context) => Reply | TakeOver | Promise<Reply | TakeOver>;

export interface StandIn {
  readonly options: ClientOptions;
  /** The clock of the server and of clients, in milliseconds. */
  clock: number;
  /** All requests, in order. */
  readonly seen: { readonly path: string; readonly body: unknown; readonly inner: unknown }[];
  count(path: keyof typeof clientPaths): number;
  /** Forgets all sessions, as a restart does. */
  forgetSessions(): void;
  onInit: Handler<InitContext>;
  onValidate: Handler<SealedContext>;
  /** Register, login and upgrade. */
  onClientAuth: Handler<SealedContext>;
  close(): Promise<void>;
}

export const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
export const refusal = (code: keyof typeof plaintextErrorStatus, error = `No: ${code}`): Reply =>
  json(plaintextErrorStatus[code], { success: false, error, code });

/** The requests and answers of a sealed path. */
interface SealedPath {
  readonly request: z.ZodType<InnerHead>;
  readonly success: JsonObject;
  /** Members of a failure in addition to code and message. */
  readonly malformed: JsonObject;
}

const signedIn = {
  message: 'License is valid.',
  sessionToken: 'an-opaque-token',
  expiresAt: '2030-01-08T00:00:00.000Z',
  user: { id: '01890a5d-ac96-774b-bcce-b302099a8058', username: 'ada', email: null, applicationId: appId },
  license: {
    id: '01890a5d-ac96-774b-bcce-b302099a8059',
    status: 'active',
    expiresAt: '2030-01-01T00:00:00.000Z',
    subscriptionTier: 3,
  },
  session: { ip: '192.0.2.1', hwid: null },
};

const sealedPaths: Readonly<Record<string, SealedPath>> = {
  [clientPaths.validate]: {
    request: innerValidateRequest,
    success: {
      message: 'License is valid.',
      status: 'active',
      expiresAt: '2030-01-01T00:00:00.000Z',
      subscriptionTier: 3,
    },
    malformed: { status: null, expiresAt: null },
  },
  [clientPaths.register]: { request: innerRegisterRequest, success: signedIn, malformed: {} },
  [clientPaths.login]: { request: innerLoginRequest, success: signedIn, malformed: {} },
  [clientPaths.upgrade]: { request: innerUpgradeRequest, success: signedIn, malformed: {} },
};

function headOf(judgement: Judgement): InnerHead | null {
  if (judgement.kind === 'accepted') return judgement.inner;
  return judgement.kind === 'malformed' ? judgement.head : null;
}

/** The hash of the request, if it asked for it. */
function requestEchoOf(judgement: Judgement): JsonObject {
  if (headOf(judgement)?.echoRequest !== true || judgement.kind === 'plaintext') return {};
  return { requestSha256B64: encodeBase64(sha256(judgement.plaintext)) };
}

/** A server on loopback that implements the protocol, and that each test can make misbehave. */
export async function startStandIn(): Promise<StandIn> {
  const seed = randomBytes(32);
  const sessions = new Map<string, Uint8Array>();
  const nonces = new Set<string>();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  function init(body: unknown): InitContext {
    const { clientNonceB64 } = sessionInitRequest.parse(body);
    const clientNonce = decodeBase64(clientNonceB64) ?? new Uint8Array();
    const signed: InitContext['signed'] = (change) => {
      const serverNonce = randomBytes(32);
      const salt = randomBytes(32);
      const sessionId = change.sessionId ?? encodeBase64Url(randomBytes(96));
      sessions.set(sessionId, deriveSessionKey({ clientNonce, serverNonce, salt, appId }));
      const part = sessionInitSignedPart(appId, {
        hkdfSaltB64: encodeBase64(salt),
        serverNonceB64: encodeBase64(serverNonce),
        sessionId,
        timestamp: change.timestamp ?? Math.floor(standIn.clock / 1000),
        v: 1,
      });
      const signatureB64 = encodeBase64(signBytes(utf8(canonicalJson(part)), change.seed ?? seed));
      const { appId: _appId, ...rest } = part;
      return json(200, { success: true, ...rest, signatureB64 });
    };
    return { signed, good: () => signed({}) };
  }

  function openSealed(path: string, body: unknown, sealedPath: SealedPath): SealedContext {
    const { request, success, malformed } = sealedPath;
    const context = {
      keyOf: (sessionId: string) => sessions.get(sessionId),
      now: Math.floor(standIn.clock / 1000),
      useNonce: (sessionId: string, nonce: string) => {
        const name = `${sessionId} ${nonce}`;
        if (nonces.has(name)) return false;
        nonces.add(name);
        return true;
      },
    };
    const judgement = judgeRequest(body, context, request, path.split('/').at(-1));
    const timestamp = Math.floor(standIn.clock / 1000);
    const sealed: SealedContext['sealed'] = (inner, change = {}) => {
      if (judgement.kind === 'plaintext') return refusal(judgement.code);
      const text = change.text ?? canonicalJson(inner);
      const signature = signBytes(utf8(change.signedText ?? text), change.seed ?? seed);
      const envelope = sealEnvelope(change.key ?? judgement.key, utf8(text));
      return json(200, { ...envelope, signatureB64: encodeBase64(signature) });
    };
    const sessionId = judgement.kind === 'plaintext' ? '' : judgement.sessionId;
    const head = headOf(judgement);
    const echo = head?.echoNonce === true ? { nonce: head.nonce } : {};
    const bound = { sessionId, timestamp, v: 1, ...echo, ...requestEchoOf(judgement) };
    const failed = { success: false, code: 'VALIDATION_FAILED', message: 'No', ...malformed, ...bound };
    const succeeded = { success: true, code: 'OK', ...success, ...bound };
    const inner: JsonObject = judgement.kind === 'accepted' ? succeeded : failed;
    return { judgement, inner, sealed, good: () => sealed(inner) };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body: unknown = JSON.parse(Buffer.concat(parts).toString());
    const path = request.url ?? '';
    const sealed = sealedPaths[path];
    let reply: Reply | TakeOver = { status: 404, body: 'not here' };
    if (path === clientPaths.sessionInit) {
      standIn.seen.push({ path, body, inner: undefined });
      reply = await standIn.onInit(init(body));
    } else if (sealed !== undefined) {
      const context = openSealed(path, body, sealed);
      const inner = context.judgement.kind === 'accepted' ? context.judgement.inner : undefined;
      standIn.seen.push({ path, body, inner });
      reply = await (path === clientPaths.validate ? standIn.onValidate : standIn.onClientAuth)(context);
    } else {
      standIn.seen.push({ path, body, inner: undefined });
    }
    if (typeof reply === 'function') return reply(response);
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The stand-in has no port');
  const standIn: StandIn = {
    clock: Date.now(),
    options: {
      baseUrl: `http://127.0.0.1:${address.port}`,
      appId,
      publicKeyB64: encodeBase64(getPublicKey(seed)),
      version: '1.0.0',
      protocol: 1,
      now: () => standIn.clock,
    },
    seen: [],
    count: (name) => standIn.seen.filter(({ path }) => path === clientPaths[name]).length,
    forgetSessions: () => sessions.clear(),
    onInit: (context) => context.good(),
    onValidate: (context) => context.good(),
    onClientAuth: (context) => context.good(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
}
