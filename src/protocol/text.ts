// Code that the SDK bundles imports zod as a namespace, so that bundlers can drop unused parts: `{ z }` includes every
// locale and triples the SDK's size.
import * as z from 'zod';

/**
 * Whether a text is free of NUL and lone surrogates. PostgreSQL cannot store NUL; canonical JSON (RFC 8785 §3.2.2.2) and
 * UTF-8 cannot represent lone surrogates. Such text is rejected, never repaired: a repaired text would be signed as
 * something that its sender did not write.
 */
export function isWellFormedText(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/** A string that JSON, UTF-8 and PostgreSQL can represent. */
export const wellFormedText = z.string().refine(isWellFormedText, 'must not contain NUL or a lone surrogate');

/**
 * A well-formed text of `min` to `max` UTF-16 code units (SPEC §1). Zod's own `max` counts code points, so on its own it
 * would accept up to twice as many code units.
 */
export const textOf = ({ min, max }: { min: number; max: number }) =>
  wellFormedText
    .min(min)
    .max(max)
    .refine((text) => text.length <= max, `must be at most ${max} UTF-16 code units`);
