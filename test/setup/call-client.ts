import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import { sha256 } from '../../src/crypto/hash.ts';
import {
  agreeX25519,
  generateX25519,
  type X25519KeyPair,
  x25519PrivateKey,
} from '../../src/crypto/x25519.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { verifyBytes } from '../../src/protocol/signature.ts';
import { callPath, keyPath, requestMediaType } from '../../src/protocol/v2/constants.ts';
import { deriveContext, type HpkeContext, keyScheduleContext } from '../../src/protocol/v2/hpke.ts';
import { readStatement, type ServiceKey } from '../../src/protocol/v2/key-statement.ts';
import {
  openAnswer,
  padded,
  requestBytes,
  requestInfo,
  signedAnswer,
} from '../../src/protocol/v2/message.ts';
import { parseStrictJson } from '../../src/protocol/v2/strict-json.ts';

type Members = Readonly<Record<string, unknown>>;

/** A request with what its sender needs to open the answer. */
export interface SentCall {
  readonly body: Uint8Array;
  readonly context: HpkeContext;
  readonly encapsulatedKey: Uint8Array;
}

/** A client of protocol version 2 that does each step separately, so that a test can do any of them wrong. */
export interface CallClient {
  /** The raw statement. */
  statement(): Promise<Uint8Array>;
  /** The key that the service announces now. */
  key(): Promise<ServiceKey>;
  /** Well-formed members of a request. */
  plaintext(call: string, members?: Members): Record<string, unknown>;
  seal(plaintext: unknown, options?: SealOptions): Promise<SentCall>;
  post(body: Uint8Array): Promise<CallResponse>;
  /** Decrypts an answer and verifies its signature. */
  open(sent: SentCall, response: CallResponse): Record<string, unknown>;
  /** All of it. */
  ask(call: string, members?: Members): Promise<Record<string, unknown>>;
}

export interface SealOptions {
  readonly key?: ServiceKey;
  readonly ephemeral?: X25519KeyPair;
}

export interface CallResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON, of an unsigned error. */
  readonly error: unknown;
}

const object = z.record(z.string(), z.unknown());

/** Creates a client with an address of its own, unless one is given. */
export function createCallClient(
  server: { readonly baseUrl: string; readonly clock: Clock },
  application: { readonly id: string; readonly version: string; readonly publicKeyB64: string },
  address = `10.${randomBytes(3).join('.')}`,
): CallClient {
  const publicKey = decodeBase64(application.publicKeyB64) ?? expect.fail('malformed public key');
  const headers = { 'x-forwarded-for': address };

  const statement = async () => {
    const response = await fetch(server.baseUrl + keyPath(application.id), { headers });
    expect(response.status).toBe(200);
    return new Uint8Array(await response.arrayBuffer());
  };
  const key = async () =>
    readStatement(await statement(), application.id, publicKey) ?? expect.fail('the statement is not valid');

  async function seal(plaintext: unknown, options: SealOptions = {}): Promise<SentCall> {
    const to = options.key ?? (await key());
    const ephemeral = options.ephemeral ?? generateX25519();
    const encapsulatedKey = ephemeral.publicKey;
    const context = deriveContext({
      sharedPoint: agreeX25519(x25519PrivateKey(ephemeral), to.publicKey) ?? expect.fail('zero'),
      encapsulatedKey,
      recipientKey: to.publicKey,
      scheduleContext: keyScheduleContext(requestInfo(to.keyId)),
    });
    if (context === null) expect.fail('the shared point is zero');
    const bytes =
      plaintext instanceof Uint8Array
        ? plaintext
        : padded(typeof plaintext === 'string' ? plaintext : JSON.stringify(plaintext));
    const body = requestBytes({ keyId: to.keyId, encapsulatedKey, ciphertext: context.seal(bytes) });
    return { body, context, encapsulatedKey };
  }

  async function post(body: Uint8Array): Promise<CallResponse> {
    const response = await fetch(server.baseUrl + callPath, {
      method: 'POST',
      headers: { ...headers, 'content-type': requestMediaType },
      body: Buffer.from(body),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const error: unknown = isJson ? JSON.parse(Buffer.from(bytes).toString('utf8')) : null;
    return { status: response.status, headers: response.headers, bytes, error };
  }

  function open(sent: SentCall, { status, bytes, error }: CallResponse): Record<string, unknown> {
    expect(status, JSON.stringify(error)).toBe(200);
    const { signature, payload } = openAnswer(sent, bytes) ?? expect.fail('the answer does not open');
    expect(verifyBytes(signature, signedAnswer(application.id, sha256(sent.body), payload), publicKey)).toBe(
      true,
    );
    return object.parse(parseStrictJson(payload));
  }

  const plaintext = (call: string, members: Members = {}) => ({
    v: 2,
    call,
    app: application.id,
    version: application.version,
    time: Math.floor(server.clock.now() / 1000),
    ...members,
  });

  return {
    statement,
    key,
    plaintext,
    seal,
    post,
    open,
    ask: async (call, members) => {
      const sent = await seal(plaintext(call, members));
      return open(sent, await post(sent.body));
    },
  };
}
