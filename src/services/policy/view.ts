import type { Prisma } from '../../db/client.ts';
import { policyTerms, policyTermsSelect } from '../license/policy-terms.ts';

/** The columns of a policy, all of which its owner can read. */
export const policySelect = {
  id: true,
  applicationId: true,
  code: true,
  name: true,
  ...policyTermsSelect,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.PolicySelect;

export type PolicyRow = Prisma.PolicyGetPayload<{ select: typeof policySelect }>;

export type PolicyView = ReturnType<typeof policyView>;

export const policyView = (row: PolicyRow) => policyTerms(row);
