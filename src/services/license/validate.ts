import { messageFor } from '../application/message-for.ts';
import type { Call, ServiceContext } from '../context.ts';
import { type ClientRequest, clientFacts } from './client-facts.ts';
import { judgeLicense, type LicenseJudgement } from './judge.ts';

export interface ValidateInput extends ClientRequest {
  readonly licenseKey: string;
}

/** The verdict, before it is sealed. */
export type ValidateOutcome =
  | {
      readonly success: true;
      readonly code: 'OK';
      readonly message: string;
      readonly status: 'active';
      /** ISO 8601. */
      readonly expiresAt: string | null;
      readonly subscriptionTier: number;
    }
  | {
      readonly success: false;
      readonly code: Exclude<LicenseJudgement['code'], 'OK'>;
      readonly message: string;
      readonly status: null;
      readonly expiresAt: null;
    };

/**
 * Validates a license for a client, activates it and binds the device on first use, and logs the outcome.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function validateLicense({ ctx, input }: Call<ValidateInput>): Promise<ValidateOutcome> {
  const { application, licenseKey, hwid } = input;
  const judgement = await judgeLicense(ctx, {
    application,
    client: await clientFacts(ctx, input),
    licenseKey,
    hwid,
  });
  logOutcome(ctx, input, judgement);
  const message = messageFor(application, judgement.code);
  if (judgement.code !== 'OK') {
    return { success: false, code: judgement.code, message, status: null, expiresAt: null };
  }
  return {
    success: true,
    code: 'OK',
    message,
    status: 'active',
    expiresAt: judgement.expiresAt?.toISOString() ?? null,
    subscriptionTier: judgement.license.subscriptionTier,
  };
}

/** Logs the outcome, without the license's id if it belongs to another application. */
function logOutcome(
  ctx: ServiceContext,
  { application, hwid }: ValidateInput,
  judgement: LicenseJudgement,
): void {
  const own = judgement.license?.applicationId === application.id ? judgement.license : null;
  const firstUse = judgement.code === 'OK' && (judgement.activated || judgement.bound);
  ctx.env.securityLog.add(ctx.client, {
    developerId: application.developerId,
    applicationId: application.id,
    event: 'license_validated',
    code: judgement.code,
    licenseId: own?.id ?? null,
    hwid,
    ...(firstUse && { metadata: { activated: judgement.activated, bound: judgement.bound } }),
  });
  if (own !== null) ctx.env.securityLog.seen(own.id, ctx.client.ip);
}
