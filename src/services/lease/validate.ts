import type { Call, ServiceContext } from '../context.ts';
import { type ValidateInput, type Validation, validateLicense } from '../license/validate.ts';
import { saysUnavailable } from '../unavailable.ts';
import { grantLease, type LeaseApplicant } from './grant.ts';

export interface LeasedValidation extends Validation {
  /** Null if none was issued. */
  readonly lease: string | null;
}

/**
 * Validates a license, and issues a lease if the license is valid, a HWID was sent, and the application issues leases. The
 * verdict does not depend on the lease. It comes without one if the license was changed in between, or if a cache gave
 * the verdict while the database is unavailable.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function validateWithLease({ ctx, input }: Call<ValidateInput>): Promise<LeasedValidation> {
  const validation = await validateLicense({ ctx, input });
  const { outcome, license } = validation;
  const { application, hwid } = input;
  if (!outcome.success || license === null || hwid === null || !application.leasesEnabled) {
    return { ...validation, lease: null };
  }
  const lease = await leaseIfPossible(ctx, {
    application,
    licenseId: license.id,
    licenseKey: input.licenseKey,
    hwid,
  });
  return { ...validation, lease };
}

async function leaseIfPossible(ctx: ServiceContext, applicant: LeaseApplicant): Promise<string | null> {
  try {
    const grant = await grantLease(ctx, applicant);
    return typeof grant === 'string' ? null : grant.lease;
  } catch (error) {
    if (!saysUnavailable(error)) throw error;
    ctx.env.log.error({ err: error }, 'a lease could not be issued: a required dependency is unavailable');
    return null;
  }
}
