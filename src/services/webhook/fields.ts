import { z } from 'zod';
import { id, text } from '../fields.ts';
import { isTypePattern } from './match.ts';

const maxTypes = 50;

/** The types of events that a webhook gets. */
const types = z
  .array(
    text({ min: 1, max: 64 }).refine(
      isTypePattern,
      'must be a type of events, such as license.banned, license.* or *',
    ),
  )
  .min(1)
  .max(maxTypes)
  .refine((patterns) => new Set(patterns).size === patterns.length, 'must name each type once');

/** The members of a webhook that its developer chooses. */
export const members = {
  /** `requireUrl` checks the rest. */
  url: text({ min: 1, max: 2_048 }),
  types,
  /** Null: events of all applications, and of the account. */
  applicationId: id.nullable(),
  description: text({ min: 0, max: 200 }),
};
