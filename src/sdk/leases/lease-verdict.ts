import type { LeaseClaims } from '../../protocol/v2/lease.ts';
import { type Failure, failure } from '../failure.ts';
import type { ValidVerdict } from '../verdict.ts';
import type { LeaseProblem } from './lease-problem.ts';

/** The verdict of a lease that stands in for an answer. */
export function leaseVerdict({ lex, tier, ent, exp }: LeaseClaims): ValidVerdict {
  return {
    kind: 'verdict',
    valid: true,
    code: 'OK',
    message: 'License is valid.',
    status: 'active',
    expiresAt: lex === null ? null : new Date(lex * 1000),
    subscriptionTier: tier,
    graceEndsAt: null,
    entitlements: ent,
    metadata: {},
    source: 'lease',
    leaseExpiresAt: new Date(exp * 1000),
  };
}

const messages: Readonly<Record<LeaseProblem, string>> = {
  none: 'There is no lease for this license and device',
  expired: 'The lease has expired',
  'used-up': 'The program has run for as long as the lease allows',
  'clock-set-back': "This device's clock was set back",
  revoked: 'The license was revoked',
  'revocations-missing': 'The revocation list is missing from the store',
  'not-requested': 'The lease does not answer a request of this device, or one that was answered before',
  superseded: 'The lease is older than another one that this program has seen',
  'not-stored': 'The store has not taken what the client has to keep about leases',
  invalid: 'This is no lease for this application and device',
};

export function leaseFailure(problem: LeaseProblem): Failure {
  return failure('no-lease', messages[problem], { lease: problem });
}
