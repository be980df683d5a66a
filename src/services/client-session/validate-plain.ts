import { z } from 'zod';
import { innerValidateRequest, sessionInitRequest } from '../../protocol/messages.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { type ValidateOutcome, validateLicense } from '../license/validate.ts';

/** What a session and a sealed body say together, in the clear. */
export const plainValidateInput = z.object({
  appId: sessionInitRequest.shape.appId,
  /** The application's own version when left out. */
  clientVersion: sessionInitRequest.shape.clientVersion.optional(),
  licenseKey: innerValidateRequest.shape.licenseKey,
  hwid: innerValidateRequest.shape.hwid,
});

/**
 * The plaintext test form of validate (interface, "Client protocol"): the same verdict, neither sealed nor signed.
 * Only reached where the operator has set CRYPTO_ENFORCE to false.
 * @throws {ServiceError} APP_NOT_FOUND, UNAVAILABLE
 */
export async function validatePlain({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: z.output<typeof plainValidateInput>;
}): Promise<ValidateOutcome> {
  const application = await ctx.env.caches.application(input.appId);
  if (application === null) throw applicationNotFound();
  return validateLicense({
    ctx,
    input: {
      application,
      clientVersion: input.clientVersion ?? application.version,
      licenseKey: input.licenseKey,
      hwid: input.hwid ?? null,
    },
  });
}
