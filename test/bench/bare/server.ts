import { hash, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { verify } from '@node-rs/argon2';
import { ed25519PrivateKey } from '../../../src/crypto/ed25519-private-key.ts';
import { clientPaths } from '../../../src/protocol/constants.ts';
import { callPath, keyPath } from '../../../src/protocol/v2/constants.ts';
import { numberedLicense } from '../numbered.ts';
import { type BareCallKey, createCallKey, openCall, sealCall } from './calls.ts';
import type { BareMaterial } from './material.ts';
import { type Envelope, open, seal } from './sealed.ts';
import { type BareSessions, handshake } from './sessions.ts';
import { makeSignatures, signaturesPath } from './signatures.ts';

/**
 * The irreducible work of the client protocol and nothing else: node:http, JSON, Ed25519, a look-up, and AES-256-GCM for
 * version 1, or HPKE for version 2. It checks nothing, limits nothing and writes nothing, so it is a measure and no server
 * for anybody.
 *
 * Functions here are written flat: a loader that keeps names would make every nested one cost.
 */
export function createBareServer(material: BareMaterial): Server {
  const privateKey = ed25519PrivateKey(Buffer.from(material.seedB64, 'base64'));
  const state: State = {
    material,
    privateKey,
    callKey: createCallKey(material.appId, privateKey),
    keyPath: keyPath(material.appId),
    licenses: licensesOf(material),
    sessions: new Map(),
  };
  return createServer((request, response) => {
    let body: Buffer | undefined;
    request.on('data', (chunk: Buffer) => {
      body = body === undefined ? chunk : Buffer.concat([body, chunk]);
    });
    request.on('end', () => {
      const answered = answer(request.url, body ?? none, state);
      if (answered instanceof Promise) answered.then((content) => send(response, content));
      else send(response, answered);
    });
  });
}

function licensesOf({
  licenseKeys,
  numberedLicenses,
  answer,
}: BareMaterial): Map<string, BareMaterial['answer']> {
  const licenses = new Map(licenseKeys.map((key) => [hash('sha256', key), answer]));
  for (let number = 0; number < numberedLicenses; number += 1) {
    licenses.set(hash('sha256', numberedLicense(number).licenseKey), answer);
  }
  return licenses;
}

const none = Buffer.alloc(0);

/** The driver does not look at the type of the content. */
function send(response: ServerResponse, content: string | Buffer): void {
  response.writeHead(200, {
    'Content-Type': typeof content === 'string' ? 'application/json' : 'application/octet-stream',
    'Content-Length': Buffer.byteLength(content),
  });
  response.end(content);
}

interface State {
  readonly material: BareMaterial;
  readonly privateKey: KeyObject;
  readonly callKey: BareCallKey;
  /** Where the key statement is. */
  readonly keyPath: string;
  /** By the SHA-256 of their keys, in hexadecimal. */
  readonly licenses: ReadonlyMap<string, BareMaterial['answer']>;
  readonly sessions: BareSessions;
}

function answer(path: string | undefined, body: Buffer, state: State): string | Buffer | Promise<string> {
  switch (path) {
    case clientPaths.validate:
      return validate(JSON.parse(String(body)), state);
    case callPath:
      return call(body, state);
    case clientPaths.login:
      return login(JSON.parse(String(body)), state);
    case clientPaths.sessionInit:
      return handshake(String(body), state.sessions, state.privateKey, state.material);
    case state.keyPath:
      return state.callKey.statement;
    case signaturesPath:
      return makeSignatures(state.privateKey);
    default:
      throw new Error(`The bare program has no ${path}`);
  }
}

function validate(envelope: Envelope, state: State): string {
  const { sessionId } = envelope;
  const key = keyOf(sessionId, state.sessions);
  const plaintext = open(envelope, key);
  const request = JSON.parse(plaintext);
  const license = licenseOf(request.licenseKey, state.licenses);
  const inner = {
    code: 'OK',
    expiresAt: license.expiresAt,
    message: license.message,
    nonce: request.nonce,
    requestSha256B64: request.echoRequest ? hash('sha256', plaintext, 'base64') : undefined,
    sessionId,
    status: license.status,
    subscriptionTier: license.subscriptionTier,
    success: true,
    timestamp: Math.floor(Date.now() / 1000),
    v: 1,
  };
  return seal(inner, sessionId, key, state.privateKey);
}

/** `validate` of version 2; the only call that there is. Any id serves as the license's. */
function call(body: Buffer, { callKey, privateKey, licenses, material }: State): Buffer {
  const opened = openCall(body, callKey);
  const request = JSON.parse(opened.plaintext);
  const license = licenseOf(request.licenseKey, licenses);
  const content = {
    v: 2,
    call: request.call,
    time: Math.floor(Date.now() / 1000),
    success: true,
    code: 'OK',
    message: license.message,
    status: license.status,
    expiresAt: license.expiresAt,
    subscriptionTier: license.subscriptionTier,
    licenseId: material.appId,
  };
  return sealCall(content, body, opened, callKey, privateKey);
}

/** As an end user logs in, without a database: everybody has the one password. */
async function login(envelope: Envelope, { material, privateKey, sessions }: State): Promise<string> {
  const { sessionId } = envelope;
  const key = keyOf(sessionId, sessions);
  const plaintext = open(envelope, key);
  const request = JSON.parse(plaintext);
  if (!(await verify(material.passwordHash, request.password))) throw new Error('Wrong password');
  const { expiresAt, message, status, subscriptionTier } = material.answer;
  const { appId } = material;
  const inner = {
    code: 'OK',
    expiresAt,
    license: { expiresAt, id: appId, status, subscriptionTier },
    message,
    nonce: request.nonce,
    requestSha256B64: request.echoRequest ? hash('sha256', plaintext, 'base64') : undefined,
    session: { hwid: request.hwid, ip: '127.0.0.1' },
    sessionId,
    sessionToken: randomBytes(32).toString('base64url'),
    success: true,
    timestamp: Math.floor(Date.now() / 1000),
    user: {
      applicationId: appId,
      email: `${request.username}@example.com`,
      id: appId,
      username: request.username,
    },
    v: 1,
  };
  return seal(inner, sessionId, key, privateKey);
}

function licenseOf(licenseKey: string, licenses: State['licenses']): BareMaterial['answer'] {
  const license = licenses.get(hash('sha256', licenseKey));
  if (license === undefined)
    throw new Error('The bare program was asked about a license that it does not have');
  return license;
}

function keyOf(sessionId: string, sessions: BareSessions): Buffer {
  const key = sessions.get(sessionId);
  if (key === undefined) throw new Error('The bare program has no such session');
  return key;
}
