import { sealAesGcm } from '../../crypto/aead.ts';
import { encodeBase64 } from '../../crypto/base64.ts';
import { unixSeconds } from '../../lib/clock.ts';
import { canonicalJson, type JsonValue } from '../../protocol/canonical-json.ts';
import { protocolVersion } from '../../protocol/constants.ts';
import type { ServiceContext } from '../context.ts';
import type { OpenedRequest } from './open-request.ts';

/** A sealed response as sent. */
export interface SealedAnswer {
  readonly sessionId: string;
  readonly ivB64: string;
  readonly ciphertextB64: string;
  readonly tagB64: string;
  readonly signatureB64: string;
}

/** Signs a result with the application's key and seals exactly the bytes that were signed (SPEC §7). */
export function sealAnswer(
  ctx: ServiceContext,
  request: OpenedRequest,
  result: Readonly<Record<string, JsonValue>>,
): SealedAnswer {
  const inner = {
    ...result,
    sessionId: request.sessionId,
    timestamp: unixSeconds(ctx.env.clock),
    v: protocolVersion,
    ...request.echo,
  };
  const bytes = Buffer.from(canonicalJson(inner), 'utf8');
  const signature = request.application.signer.sign(bytes);
  const { iv, ciphertext, tag } = sealAesGcm(request.session.sessionKey, bytes);
  return {
    sessionId: request.sessionId,
    ivB64: encodeBase64(iv),
    ciphertextB64: encodeBase64(ciphertext),
    tagB64: encodeBase64(tag),
    signatureB64: encodeBase64(signature),
  };
}
