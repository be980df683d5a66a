import { type SealedRequest, sealedRequest } from '../../protocol/messages.ts';
import { ServiceError } from '../../services/errors.ts';
import { ProtocolError } from '../../services/protocol-error.ts';
import type { RestContext } from '../adapter.ts';
import { parseStrictJson } from '../strict-json.ts';

/** A request of client software: sealed, or plaintext if the operator allows that for tests. */
export type ClientBody =
  | { readonly sealed: true; readonly envelope: SealedRequest }
  | { readonly sealed: false; readonly plain: unknown };

const envelopeMembers = ['ivB64', 'ciphertextB64', 'tagB64'];

/**
 * Reads the body of a sealed route.
 * @throws {ProtocolError} CRYPTO_REQUIRED for a plaintext body while CRYPTO_ENFORCE is true
 * @throws {ServiceError} VALIDATION_FAILED for a malformed envelope
 */
export async function readClientBody(c: RestContext): Promise<ClientBody> {
  const body: unknown = await readJson(c);
  const parsed = sealedRequest.safeParse(body);
  if (parsed.success) return { sealed: true, envelope: parsed.data };
  if (hasNoEnvelope(body)) {
    if (!c.get('env').settings.cryptoEnforce) return { sealed: false, plain: body };
    throw new ProtocolError(
      'CRYPTO_REQUIRED',
      'This request must be sealed. See the protocol specification.',
    );
  }
  throw ServiceError.invalidInput(parsed.error.issues);
}

function hasNoEnvelope(body: unknown): boolean {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject && !envelopeMembers.some((member) => member in body);
}

/** Parses the body as JSON regardless of its declared type: clients in some languages do not set it. */
export async function readJson(c: RestContext): Promise<unknown> {
  const body = await c.req.arrayBuffer();
  try {
    return parseStrictJson(body);
  } catch {
    const message = 'The request body must be well-formed JSON.';
    throw new ServiceError('VALIDATION_FAILED', message, { issues: [{ path: [], message }] });
  }
}
