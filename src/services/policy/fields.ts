import { z } from 'zod';
import { displayName, durationSeconds, strictObject } from '../fields.ts';
import { licenseMask } from '../license/mask.ts';
import { licenseTerms, startsAt } from '../license/terms.ts';

/** Names a policy within its application, for programs. */
const code = z.string().regex(/^[a-z0-9_.-]{1,64}$/, 'must be 1 to 64 of the characters a-z 0-9 _ . -');

const members = {
  code,
  name: displayName,
  durationSeconds,
  startsAt,
  ...licenseTerms,
  /** Null: the developer's mask. */
  keyMask: licenseMask.nullable(),
};

/** A new policy. Members that are left out have the defaults of the columns. */
export const createPolicyInput = strictObject(members).partial().required({ code: true, name: true });

/** A change of a policy. Members that are left out stay as they are. */
export const updatePolicyInput = strictObject(members).partial();

export type PolicyChange = z.output<typeof updatePolicyInput>;

/** Whether at least one member was sent, which is required. */
export const policyChangeNotEmpty = (change: PolicyChange): boolean =>
  Object.values(change).some((value) => value !== undefined);
