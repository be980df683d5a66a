import { messageFor } from '../application/message-for.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import type { RefusalCode } from '../license/decide.ts';
import { judgeClient } from '../license/judge-client.ts';
import { type ValidateInput, type Validation, validateLicense } from '../license/validate.ts';
import { grantLease } from './grant.ts';

export interface RenewInput extends ValidateInput {
  readonly hwid: string;
  /** The sequence number of the lease that the device holds. */
  readonly heldSeq?: number;
}

/** What a device that asks for a lease gets. `disabled`: the application issues none, none to more devices, or none for such entitlements. */
export type Renewal =
  | { readonly kind: 'leased'; readonly validation: Validation; readonly lease: string }
  | { readonly kind: 'refused'; readonly validation: Validation }
  | { readonly kind: 'disabled'; readonly code: RefusalCode | 'LEASES_DISABLED' };

/** An attempt fails if the license is changed between its verdict and the lease. */
const maxAttempts = 5;

/**
 * Validates a license and issues a lease for the device. Where the application issues none, the license is not judged, so
 * that it is neither activated nor bound; refusals of the application itself come first.
 * @throws {ServiceError} UNAVAILABLE
 */
export async function renewLease({ ctx, input }: Call<RenewInput>): Promise<Renewal> {
  const { application, hwid, heldSeq } = input;
  if (!application.leasesEnabled) {
    const { code } = await judgeClient(ctx, input);
    return { kind: 'disabled', code: code === 'OK' ? 'LEASES_DISABLED' : code };
  }
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const validation = await validateLicense({ ctx, input });
    const { outcome, license } = validation;
    if (!outcome.success || license === null) return { kind: 'refused', validation };
    const grant = await grantLease(ctx, {
      application,
      licenseId: license.id,
      licenseKey: input.licenseKey,
      hwid,
      ...(heldSeq !== undefined && { heldSeq }),
    });
    if (grant === 'none') return { kind: 'refused', validation: { license, outcome: expired(input) } };
    if (grant === 'too-many-devices' || grant === 'too-long')
      return { kind: 'disabled', code: 'LEASES_DISABLED' };
    if (grant !== 'changed') return { kind: 'leased', validation, lease: grant.lease };
  }
  throw new ServiceError('UNAVAILABLE', 'This license is being changed by many requests at once. Try again.');
}

/** A license that ends within a second is valid, but no lease can end after now. */
const expired = ({ application }: RenewInput) =>
  ({
    success: false,
    code: 'EXPIRED',
    message: messageFor(application, 'EXPIRED'),
    status: null,
    expiresAt: null,
  }) as const;
