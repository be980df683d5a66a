import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Call, ServiceContext } from '../context.ts';
import {
  type LicenseMembers,
  licenseMembers,
  type RefusalMembers,
  refusalMembers,
} from './answer-members.ts';
import { type ClientRequest, clientFacts } from './client-facts.ts';
import { judgeLicense, type LicenseJudgement } from './judge.ts';
import { noteAddress, noteUse } from './note-use.ts';
import type { LicenseSnapshot } from './snapshot.ts';

export interface ValidateInput extends ClientRequest {
  readonly licenseKey: string;
}

/** The verdict, before it is sealed. */
export type ValidateOutcome =
  | ({
      readonly success: true;
      readonly code: 'OK';
      readonly message: string;
      readonly status: 'active';
      /** ISO 8601. */
      readonly expiresAt: string | null;
      readonly subscriptionTier: number;
    } & LicenseMembers)
  | ({
      readonly success: false;
      readonly code: Exclude<LicenseJudgement['code'], 'OK'>;
      readonly message: string;
      readonly status: null;
      readonly expiresAt: null;
    } & RefusalMembers);

/** A verdict, and the license that it is about if the application has it. */
export interface Validation {
  readonly outcome: ValidateOutcome;
  readonly license: LicenseSnapshot | null;
}

/**
 * Validates a license for a client, activates it and binds the device on first use, and logs the outcome.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function validateLicense({ ctx, input }: Call<ValidateInput>): Promise<Validation> {
  const { application, licenseKey, hwid } = input;
  const judgement = await judgeLicense(ctx, {
    application,
    client: await clientFacts(ctx, input),
    licenseKey,
    hwid,
    ...(input.labels && { labels: input.labels }),
  });
  // A license of another application is not named: neither in the log nor to the client.
  const license = judgement.license?.applicationId === application.id ? judgement.license : null;
  logOutcome(ctx, input, judgement, license);
  return { outcome: outcomeOf(application, judgement), license };
}

function outcomeOf(application: ApplicationSnapshot, judgement: LicenseJudgement): ValidateOutcome {
  const message = messageFor(application, judgement.code);
  if (judgement.code !== 'OK') {
    const { code } = judgement;
    return { success: false, code, message, status: null, expiresAt: null, ...refusalMembers(judgement) };
  }
  return {
    success: true,
    code: 'OK',
    message,
    status: 'active',
    expiresAt: judgement.expiresAt?.toISOString() ?? null,
    subscriptionTier: judgement.license.subscriptionTier,
    ...licenseMembers(judgement.license, judgement.graceEndsAt),
  };
}

function logOutcome(
  ctx: ServiceContext,
  { application, clientVersion, protocol, hwid }: ValidateInput,
  judgement: LicenseJudgement,
  license: LicenseSnapshot | null,
): void {
  const firstUse = judgement.code === 'OK' && (judgement.activated || judgement.bound);
  ctx.env.securityLog.add(ctx.client, {
    developerId: application.developerId,
    applicationId: application.id,
    event: 'license_validated',
    code: judgement.code,
    licenseId: license?.id ?? null,
    hwid,
    ...(judgement.code === 'APP_OUTDATED' && { metadata: { clientVersion, protocol } }),
    ...(firstUse && { metadata: { activated: judgement.activated, bound: judgement.bound } }),
  });
  if (license === null) return;
  noteAddress(ctx, license);
  if (judgement.code === 'OK') noteUse(ctx, { application, license, hwid });
}
