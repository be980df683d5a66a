import { z } from 'zod';
import { strictObject, text } from '../fields.ts';
import { isPartShort, maxPartBytes } from './answer-room.ts';

/** A value of an entitlement or of metadata. */
export type Value = boolean | number | string;

/** What a customer has bought, by code. Inside the signed answers and leases. */
export type Entitlements = Readonly<Record<string, Value>>;

/** Names to values. `client` is inside the signed answers, `private` is only for the developer. */
export interface LicenseMetadata {
  readonly client: Readonly<Record<string, Value>>;
  readonly private: Readonly<Record<string, Value>>;
}

const maxMembers = 50;
/** A whole number that every JSON parser reads exactly. */
const whole = z.int();
const valueUpTo = (maxLength: number) =>
  z.union([z.boolean(), whole, text({ min: 0, max: maxLength })], {
    error: `must be true or false, a whole number, or a text of at most ${maxLength} characters`,
  });

const tooLong = `must be at most ${maxPartBytes} bytes as JSON`;

const atMost = (count: number) => (object: object) => Object.keys(object).length <= count;

const code = z.string().regex(/^[a-z0-9_.-]{1,64}$/, 'must be 1 to 64 of the characters a-z 0-9 _ . -');

/** Refuses the one name that a record drops silently; as a whole value, the object would lose its other members too. */
const withoutPrototype = <Record extends z.ZodType>(record: Record) =>
  z.preprocess((given, context) => {
    if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__')) {
      context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is no name for a member' });
    }
    return given;
  }, record);

export const entitlements = withoutPrototype(
  z
    .record(code, valueUpTo(200))
    .refine(atMost(maxMembers), `must have at most ${maxMembers} members`)
    .refine(isPartShort, tooLong),
);

/** Values of metadata may be longer. */
const named = withoutPrototype(z.record(text({ min: 1, max: 64 }), valueUpTo(500)));

export const metadata = strictObject({ client: named.optional(), private: named.optional() })
  .refine(
    ({ client = {}, private: own = {} }) => atMost(maxMembers)([...Object.keys(client), ...Object.keys(own)]),
    `must have at most ${maxMembers} members, client and private together`,
  )
  .refine(({ client = {} }) => isPartShort(client), { path: ['client'], message: tooLong })
  .transform((given): LicenseMetadata => ({ client: given.client ?? {}, private: given.private ?? {} }));

export const maxTags = 20;

/** Tags, each once. */
export const tags = z
  .array(text({ min: 1, max: 64 }))
  .max(maxTags)
  .transform((all): string[] => [...new Set(all)]);

const stored = z.record(z.string(), z.union([z.boolean(), z.number(), z.string()])).catch({});
const storedMetadata = z.object({ client: stored.default({}), private: stored.default({}) });

/** The entitlements in a stored value. */
export const readEntitlements = (value: unknown): Entitlements => stored.parse(value);

/** The metadata in a stored value; empty for null. */
export const readMetadata = (value: unknown): LicenseMetadata =>
  storedMetadata.catch({ client: {}, private: {} }).parse(value);
