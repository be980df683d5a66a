import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { canonicalIp } from '../lib/ip.ts';
import { textOf } from '../protocol/text.ts';

/**
 * A string of `min` to `max` UTF-16 code units without NUL or lone surrogates, which PostgreSQL or canonical JSON cannot
 * represent. Invalid input is rejected, never repaired.
 */
export const text = textOf;

/**
 * An object schema that rejects unknown members, so that misspelt ones are reported instead of ignored. Used for all
 * developer input; the client protocol ignores unknown members (SPEC §1).
 */
export const strictObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownMember(membersOf(issue.inst)) : undefined),
  });

const membersOf = (schema: unknown): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** The message for an unknown member. The issue's path names the member. */
export const unknownMember = (known: readonly string[]): string =>
  `is unknown; ${known.length === 0 ? 'no members are allowed here' : `allowed here: ${known.join(', ')}`}`;

/** A visible name: not blank. */
export const displayName = text({ min: 1, max: 100 }).refine((value) => value.trim() !== '', {
  message: 'must not be blank',
});

/** A UUID in canonical form (lower case). */
export const id = z.uuid().refine((text) => text === text.toLowerCase(), 'must be in lower case');

/** An email address, up to the length that SMTP allows (RFC 5321 §4.5.3.1.3). */
export const email = z.email().max(254);

/** A developer's password. */
export const developerPassword = text({ min: 12, max: 128 });

/** A password at login. One that could never have been set is simply wrong, not invalid. */
export const anyPassword = text({ min: 1, max: 1024 });

/** A license's tier: a non-negative PostgreSQL integer. */
export const subscriptionTier = z.int().min(0).max(2_147_483_647);

/** A license's duration from its first use, in seconds; 0 means it never expires. */
export const durationSeconds = z.int().min(0).max(2_147_483_647);

/** An IP address; converted to the canonical form in which bans are compared with client addresses. */
export const ipAddress = z
  .string()
  .max(64)
  .refine((address) => ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address), {
    message: 'must be an IPv4 or IPv6 address',
  })
  .transform(canonicalIp);
