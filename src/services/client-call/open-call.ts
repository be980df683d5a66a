import { type Sha256, sha256 } from '../../crypto/hash.ts';
import { nativePrimitives } from '../../crypto/native-primitives.ts';
import { agreeX25519 } from '../../crypto/x25519.ts';
import { deriveContext, type HpkeContext } from '../../protocol/v2/hpke.ts';
import { isRequestLength, readRequest } from '../../protocol/v2/message.ts';
import { callApplication } from '../../protocol/v2/messages.ts';
import { parseStrictJson } from '../../protocol/v2/strict-json.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { ProtocolError } from '../protocol-error.ts';
import type { RingKey } from '../service-key/ring.ts';

/** A request that was opened, for an application that exists. */
export interface OpenedCall {
  readonly application: ApplicationSnapshot;
  /** The key that it was encrypted to. */
  readonly key: RingKey;
  readonly context: HpkeContext;
  readonly encapsulatedKey: Uint8Array;
  /** Of the whole body: the answer's signature covers it. */
  readonly requestSha256: Sha256;
  /** A JSON object of which only `app` has been checked. */
  readonly plaintext: unknown;
}

/**
 * Opens a request. All later answers are sealed and signed.
 * @throws {ProtocolError} MALFORMED, KEY_UNKNOWN
 * @throws {ServiceError} APP_NOT_FOUND
 */
export async function openCall(ctx: ServiceContext, body: Uint8Array): Promise<OpenedCall> {
  if (!isRequestLength(body.length)) throw malformedCall();
  const parts = readRequest(body);
  const key = parts === null ? null : await ctx.env.serviceKeys.find(parts.keyId);
  if (parts === null || key === null) throw keyUnknown();
  const { encapsulatedKey, ciphertext } = parts;
  const context = contextOf(key, encapsulatedKey);
  const opened = context?.open(ciphertext) ?? null;
  if (context === null || opened === null) throw keyUnknown();

  const plaintext = parseStrictJson(opened);
  const named = callApplication.safeParse(plaintext);
  const application = named.success ? await ctx.env.caches.application(named.data.app) : null;
  if (application === null) throw applicationNotFound();
  ctx.notes.applicationId = application.id;
  return { application, key, context, encapsulatedKey, requestSha256: sha256(body), plaintext };
}

function contextOf(key: RingKey, encapsulatedKey: Uint8Array): HpkeContext | null {
  const sharedPoint = agreeX25519(key.privateKey, encapsulatedKey);
  if (sharedPoint === null) return null;
  const { publicKey: recipientKey, scheduleContext } = key;
  return deriveContext({ sharedPoint, encapsulatedKey, recipientKey, scheduleContext }, nativePrimitives);
}

/** @returns the error for a body that no client sends */
export const malformedCall = (): ProtocolError =>
  new ProtocolError('MALFORMED', 'The body is not a request of protocol version 2: its length is wrong.');

/** One error for every cause, so that a sender learns nothing about the key. */
const keyUnknown = (): ProtocolError =>
  new ProtocolError(
    'KEY_UNKNOWN',
    'The request cannot be decrypted. Fetch the key statement again, and encrypt the request to its key.',
  );
