import { type SealedRequest, sealedRequest } from '../../protocol/messages.ts';
import { ProtocolError } from '../../services/client-session/protocol-error.ts';
import { ServiceError } from '../../services/errors.ts';
import type { RestContext } from '../adapter.ts';

const envelopeMembers = ['ivB64', 'ciphertextB64', 'tagB64'];

/**
 * The sealed envelope of a request.
 * @throws {ProtocolError} CRYPTO_REQUIRED for a body that is not sealed at all
 * @throws {ServiceError} VALIDATION_FAILED for an envelope of the wrong shape
 */
export async function readSealedBody(c: RestContext): Promise<SealedRequest> {
  const body: unknown = await readJson(c);
  const parsed = sealedRequest.safeParse(body);
  if (parsed.success) return parsed.data;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (isObject && !envelopeMembers.some((member) => member in body)) {
    throw new ProtocolError('CRYPTO_REQUIRED', 'Send this request sealed: see the protocol specification.');
  }
  throw ServiceError.invalidInput(parsed.error.issues);
}

/** The body as JSON, whatever it says its type is: client software in any language posts it. */
export async function readJson(c: RestContext): Promise<unknown> {
  try {
    return await c.req.json();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = 'The request body must be well-formed JSON.';
    throw new ServiceError('VALIDATION_FAILED', message, { issues: [{ path: [], message }] });
  }
}
