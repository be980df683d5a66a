import { innerValidateRequest, type SealedRequest } from '../../protocol/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ServiceContext } from '../context.ts';
import { validateLicense } from '../license/validate.ts';
import { openRequest } from './open-request.ts';
import { type SealedAnswer, sealAnswer } from './seal-answer.ts';

/**
 * Opens a sealed validate request, asks for the verdict, and seals it.
 * @throws {ProtocolError} SESSION_EXPIRED, DECRYPT_FAIL, CLOCK_SKEW, REPLAY
 * @throws {ServiceError} UNAVAILABLE
 */
export async function validateSealed({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: SealedRequest;
}): Promise<SealedAnswer> {
  const request = await openRequest(ctx, input);
  const { application, session } = request;
  const inner = innerValidateRequest.safeParse(request.inner);
  if (!inner.success) {
    const message = messageFor(application, 'VALIDATION_FAILED');
    return sealAnswer(ctx, request, {
      success: false,
      code: 'VALIDATION_FAILED',
      message,
      status: null,
      expiresAt: null,
    });
  }
  const outcome = await validateLicense({
    ctx,
    input: {
      application,
      clientVersion: session.clientVersion,
      licenseKey: inner.data.licenseKey,
      hwid: inner.data.hwid ?? null,
    },
  });
  return sealAnswer(ctx, request, outcome);
}
