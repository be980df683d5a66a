import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { canonicalIp } from '../lib/ip.ts';
import { textOf } from '../protocol/text.ts';

/**
 * A string of `min` to `max` UTF-16 units that PostgreSQL and canonical JSON can carry: no NUL, no lone surrogate.
 * Input is refused, never repaired.
 */
export const text = textOf;

/**
 * An object with these members and no other: a member that is misspelt is refused by name, and not passed over. What
 * developers send is made of these; the client protocol goes on ignoring what it does not know (SPEC §1).
 */
export const strictObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownMember(membersOf(issue.inst)) : undefined),
  });

const membersOf = (schema: unknown): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** What is said of a member that is not one of these. The member is named by the issue's path. */
export const unknownMember = (known: readonly string[]): string =>
  `is not known; ${known.length === 0 ? 'nothing is expected here' : `expected here: ${known.join(', ')}`}`;

/** A name that shows: not empty, not only white space. */
export const displayName = text({ min: 1, max: 100 }).refine((value) => value.trim() !== '', {
  message: 'must not be blank',
});

/** A UUID in its canonical spelling, lower case. */
export const id = z.uuid().refine((text) => text === text.toLowerCase(), 'must be in lower case');

/** An e-mail address, as long as SMTP allows (RFC 5321 §4.5.3.1.3). */
export const email = z.email().max(254);

/** A developer's password (interface, "Other constants"). */
export const developerPassword = text({ min: 12, max: 128 });

/** Any password at login: one that could never have been set is simply wrong. */
export const anyPassword = text({ min: 1, max: 1024 });

/** A license's tier: an integer from 0 that fits PostgreSQL's. */
export const subscriptionTier = z.int().min(0).max(2_147_483_647);

/** How long a license lasts from its first use, in seconds; 0 never ends. */
export const durationSeconds = z.int().min(0).max(2_147_483_647);

/** An IP address, in the spelling that bans are compared in: what a client's own address is turned into as well. */
export const ipAddress = z
  .string()
  .max(64)
  .refine((address) => ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address), {
    message: 'must be an IPv4 or IPv6 address',
  })
  .transform(canonicalIp);
