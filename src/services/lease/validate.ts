import type { Call } from '../context.ts';
import { type ValidateInput, type Validation, validateLicense } from '../license/validate.ts';
import { type Grant, grantLease } from './grant.ts';

export interface LeasedValidation extends Validation {
  /** Null if none was issued. */
  readonly lease: string | null;
}

/**
 * Validates a license, and issues a lease if it is valid, a HWID was sent, and the application issues leases. The verdict
 * does not depend on the lease: if the license was changed in between, there is none.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function validateWithLease({ ctx, input }: Call<ValidateInput>): Promise<LeasedValidation> {
  const validation = await validateLicense({ ctx, input });
  const { outcome, license } = validation;
  const { application, hwid } = input;
  if (!outcome.success || license === null || hwid === null || !application.leasesEnabled) {
    return { ...validation, lease: null };
  }
  return {
    ...validation,
    lease: leaseOf(await grantLease(ctx, { application, licenseId: license.id, hwid })),
  };
}

const leaseOf = (grant: Grant): string | null => (typeof grant === 'string' ? null : grant.lease);
