import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { sha256 } from '@noble/hashes/sha2.js';
import { agreeX25519, generateX25519, x25519PrivateKey } from '../../../src/crypto/x25519.ts';
import { encodeBase64, encodeBase64Url } from '../../../src/protocol/base64.ts';
import { concatBytes, randomBytes, utf8 } from '../../../src/protocol/bytes.ts';
import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { getPublicKey, signBytes } from '../../../src/protocol/signature.ts';
import {
  answerMediaType,
  callPath,
  keyMediaType,
  keyPath,
  revocationsPath,
} from '../../../src/protocol/v2/constants.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import { type ServiceKey, signedStatement, statementBody } from '../../../src/protocol/v2/key-statement.ts';
import {
  type AnswerSecret,
  padded,
  readRequest,
  requestInfo,
  sealAnswer,
  signedAnswer,
} from '../../../src/protocol/v2/message.ts';
import {
  type CallErrorCode,
  type CallHead,
  callErrorStatus,
  callHead,
  callMembers,
} from '../../../src/protocol/v2/messages.ts';
import { parseStrictJson } from '../../../src/protocol/v2/strict-json.ts';
import type { ClientOptions } from '../../../src/sdk/index.ts';
import { json, type Reply, type TakeOver } from '../stand-in.ts';

export const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
export const licenseId = '01890a5d-ac96-774b-bcce-b302099a8059';

/** An unsigned error. */
export const unsigned = (code: CallErrorCode, error = `No: ${code}`): Reply =>
  json(callErrorStatus[code], { success: false, error, code });

export interface CallContext {
  readonly body: Uint8Array;
  /** What the client asks. */
  readonly request: CallHead;
  /** What a correct service answers. */
  readonly answer: JsonObject;
  good(): Reply;
  /** An answer, correctly sealed and signed by default. */
  sealed(answer: JsonObject, change?: AnswerChange): Reply;
  /** A signed refusal. */
  refused(code: string, more?: JsonObject): Reply;
}
interface AnswerChange {
  readonly seed?: Uint8Array;
  /** What the signature covers; the correct text by default. */
  readonly signed?: (payload: Uint8Array, sha256: Uint8Array) => Uint8Array;
  readonly payload?: Uint8Array;
  /** What it is sealed under; by default, the request's secret. */
  readonly secret?: AnswerSecret;
}
interface StatementChange extends Partial<ServiceKey> {
  readonly seed?: Uint8Array;
  readonly appId?: string;
}
type Handler<Context extends unknown[]> = (
  ...context: Context
) => Reply | TakeOver | Promise<Reply | TakeOver>;

export interface StandIn {
  readonly options: ClientOptions;
  /** The clock of the service, in milliseconds. */
  clock: number;
  /** Requests for calls, in order, with what they ask if they open. */
  readonly calls: { readonly body: Uint8Array; readonly request: CallHead | null }[];
  /** How often the key statement was asked for. */
  keysAsked: number;
  /** The statement of the newest key, or another one. */
  statement(change?: StatementChange): Uint8Array;
  /** A token that the application's key has signed, unless told otherwise. */
  token(header: string, claims: JsonObject, seed?: Uint8Array): string;
  /** Makes a newer key. */
  rotate(change?: { readonly forget: boolean }): void;
  onKeys: Handler<[]>;
  onRevocations: Handler<[]>;
  onCall: Handler<[CallContext]>;
  close(): Promise<void>;
}

/** What the license entitles to, in answers and in leases. */
export const entitlements = { seats: 5, 'export.pdf': true, edition: 'pro' };

const signedIn = {
  sessionToken: 'an-opaque-token',
  expiresAt: '2030-01-08T00:00:00.000Z',
  user: { id: '01890a5d-ac96-774b-bcce-b302099a8058', username: 'ada', email: null, applicationId: appId },
  license: { id: licenseId, status: 'active', expiresAt: '2030-01-01T00:00:00.000Z', subscriptionTier: 3 },
  session: { ip: '192.0.2.1', hwid: null },
};
const licensed = {
  status: 'active',
  expiresAt: '2030-01-01T00:00:00.000Z',
  subscriptionTier: 3,
  licenseId,
  entitlements,
};
const allowance = { nextMoveAt: null, movesLeft: null };
const deviceId = '01890a5d-e4f5-7c6d-a071-8293a4b5c6d7';
const results: Readonly<Record<string, JsonObject>> = {
  validate: licensed,
  lease: licensed,
  register: signedIn,
  login: signedIn,
  upgrade: signedIn,
  'devices.list': {
    licenseId,
    devices: [
      {
        id: deviceId,
        name: 'Laptop',
        platform: null,
        firstSeenAt: '2026-01-01T00:00:00.000Z',
        lastSeenAt: '2026-02-01T00:00:00.000Z',
        current: true,
      },
    ],
    deviceLimit: 3,
    ...allowance,
  },
  'devices.release': { licenseId, releasedDeviceId: deviceId, ...allowance },
  'devices.move': { licenseId, deviceId, releasedDeviceId: deviceId, ...allowance },
};

/** A server on loopback that implements version 2, and that each test can make misbehave. */
export async function startStandIn(): Promise<StandIn> {
  const seed = randomBytes(32);
  const ring: { readonly key: ServiceKey; agree(peer: Uint8Array): Uint8Array | null }[] = [];
  const accepted = new Set<string>();
  const server = createServer((request, response) => {
    reply(request).then(
      (made) => {
        if (typeof made === 'function') return made(response);
        response.writeHead(made.status, made.headers).end(made.body);
      },
      () => response.destroy(),
    );
  });

  function addKey(): void {
    const pair = generateX25519();
    const privateKey = x25519PrivateKey(pair);
    const notBefore = Math.floor(standIn.clock / 1000) + ring.length;
    const key = { notBefore, notAfter: notBefore + 259_200, keyId: ring.length, publicKey: pair.publicKey };
    ring.push({ key, agree: (peer) => agreeX25519(privateKey, peer) });
  }

  function statement({ seed: by = seed, appId: of = appId, ...change }: StatementChange = {}): Uint8Array {
    const newest = ring.at(-1)?.key;
    if (newest === undefined) throw new Error('The stand-in has no key');
    const body = statementBody({ ...newest, ...change });
    return concatBytes(signBytes(signedStatement(of, body), by), body);
  }

  /** What a request says, and the secret of its answer; null if it does not open. */
  function open(body: Uint8Array) {
    const parts = readRequest(body);
    const held = ring.find(({ key }) => key.keyId === parts?.keyId);
    if (parts === null || held === undefined) return null;
    const sharedPoint = held.agree(parts.encapsulatedKey);
    if (sharedPoint === null) return null;
    const context = deriveContext({
      sharedPoint,
      encapsulatedKey: parts.encapsulatedKey,
      recipientKey: held.key.publicKey,
      scheduleContext: keyScheduleContext(requestInfo(parts.keyId)),
    });
    const plaintext = context?.open(parts.ciphertext) ?? null;
    if (context === null || plaintext === null) return null;
    return {
      plaintext: parseStrictJson(plaintext),
      secret: { context, encapsulatedKey: parts.encapsulatedKey },
    };
  }

  /** The order of a service, as far as these tests need it. */
  function judge(body: Uint8Array, request: CallHead, plaintext: unknown): JsonObject {
    const time = Math.floor(standIn.clock / 1000);
    const head = { v: 2, call: request.call, time };
    const refused = (code: string) => ({ ...head, success: false, code, message: `No: ${code}` });
    if (Math.abs(request.time - time) > 60) return refused('CLOCK_SKEW');
    const hash = encodeBase64(sha256(body));
    if (accepted.has(hash)) return refused('REPLAY');
    accepted.add(hash);
    const members = Object.entries(callMembers).find(([name]) => name === request.call)?.[1];
    if (members?.safeParse(plaintext).success !== true) return refused('VALIDATION_FAILED');
    return { ...head, success: true, code: 'OK', message: 'License is valid.', ...results[request.call] };
  }

  async function reply(incoming: IncomingMessage): Promise<Reply | TakeOver> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    if (incoming.method === 'GET' && incoming.url === keyPath(appId)) {
      standIn.keysAsked += 1;
      return standIn.onKeys();
    }
    if (incoming.method === 'GET' && incoming.url === revocationsPath(appId)) return standIn.onRevocations();
    if (incoming.method !== 'POST' || incoming.url !== callPath) return { status: 404, body: 'not here' };
    const body = new Uint8Array(Buffer.concat(parts));
    const opened = open(body);
    const request = callHead.loose().safeParse(opened?.plaintext);
    standIn.calls.push({ body, request: request.success ? request.data : null });
    if (opened === null) return unsigned('KEY_UNKNOWN');
    if (!request.success) return unsigned('APP_NOT_FOUND');
    const answer = judge(body, request.data, opened.plaintext);
    const sealed: CallContext['sealed'] = (said, change = {}) => {
      const payload = change.payload ?? padded(JSON.stringify(said));
      const { signed = (text, hash) => signedAnswer(appId, hash, text) } = change;
      const signature = signBytes(signed(payload, sha256(body)), change.seed ?? seed);
      const bytes = sealAnswer(change.secret ?? opened.secret, randomBytes(32), { signature, payload });
      return { status: 200, headers: { 'content-type': answerMediaType }, body: bytes };
    };
    const { v, call, time } = answer;
    const refusedHead = { v: v ?? 2, call: call ?? '', time: time ?? 0, success: false };
    return standIn.onCall({
      body,
      request: request.data,
      answer,
      sealed,
      good: () => sealed(answer),
      refused: (code, more = {}) => sealed({ ...refusedHead, code, message: `No: ${code}`, ...more }),
    });
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
      now: () => standIn.clock,
      store: null,
    },
    calls: [],
    keysAsked: 0,
    statement,
    token(header, claims, by = seed) {
      const text = [header, JSON.stringify(claims)].map((part) => encodeBase64Url(utf8(part))).join('.');
      return `${text}.${encodeBase64Url(signBytes(utf8(text), by))}`;
    },
    rotate(change) {
      if (change?.forget === true) for (const held of ring) held.agree = () => null;
      addKey();
    },
    onKeys: () => ({ status: 200, headers: { 'content-type': keyMediaType }, body: statement() }),
    onRevocations: () => unsigned('APP_NOT_FOUND'),
    onCall: (context) => context.good(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  addKey();
  return standIn;
}
