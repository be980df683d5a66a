import { builder } from '../builder.ts';
import { withoutNulls } from '../input.ts';
import { SelfService } from './license.ts';

export const MovesInput = builder.inputType('MovesInput', {
  description: 'How often customers may move devices.',
  fields: (t) => ({
    count: t.int({ required: true, description: 'The number of moves within a period: 1 to 100.' }),
    periodSeconds: t.int({ required: true, description: 'The length of the period, which slides.' }),
  }),
});

type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

/** Input fields of what a license grants besides its duration: of policies, mints and licenses. */
export const termsFields = (t: InputFields) => ({
  subscriptionTier: t.int({ description: 'The tier, from 0; your program decides what it means.' }),
  deviceLimit: t.int({ description: 'How many devices may be bound at a time: 1 to 1,000.' }),
  selfService: t.field({ type: SelfService, description: 'Who may move its devices besides you.' }),
  moves: t.field({ type: MovesInput, description: 'How often; null for any number of times.' }),
  cooldownSeconds: t.int({ description: 'How long a customer waits after a move for the next one.' }),
  releaseIdleAfterSeconds: t.int({
    description: 'A device that was not used for so long gives its place to a new one; null: it never does.',
  }),
  graceSeconds: t.int({ description: 'How long it is still valid after its term.' }),
  leaseSeconds: t.int({
    description: "The term of its leases: 3,600 to 2,592,000 seconds; null: the application's.",
  }),
  entitlements: t.field({
    type: 'JSONObject',
    description: 'Code to true or false, a whole number, or a text; at most 50.',
  }),
  metadata: t.field({
    type: 'JSONObject',
    description: '`client` is inside the signed answers, `private` is only for you.',
  }),
});

/** Members for which null is a value, and does not mean that they are left out. */
const nullable: ReadonlySet<string> = new Set([
  'moves',
  'releaseIdleAfterSeconds',
  'leaseSeconds',
  'keyMask',
]);
/** Members whose own members are the caller's: a null among them is refused, as in REST. */
const open: ReadonlySet<string> = new Set(['entitlements', 'metadata']);

/** An input with terms, to be parsed: as `withoutNulls`, but with the nulls that are values. */
export function givenTerms(input: object): object {
  const members = Object.entries(input);
  const isKept = ([name, value]: [string, unknown]) => (value === null ? nullable.has(name) : open.has(name));
  return {
    ...withoutNulls(Object.fromEntries(members.filter((member) => !isKept(member)))),
    ...Object.fromEntries(members.filter(isKept)),
  };
}
