// Imported as a namespace wherever the SDK reaches, so that bundlers drop what is unused: `{ z }` brings every locale
// and makes the SDK three times as large.
import * as z from 'zod';

/**
 * True where a text holds neither NUL nor a lone surrogate. PostgreSQL cannot store the first; canonical JSON
 * (RFC 8785 §3.2.2.2) and UTF-8 cannot carry the second. Refused, never repaired: a repaired text would be
 * signed as something that its sender did not write.
 */
export function isWellFormedText(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/** A string that every part of the service can carry. */
export const wellFormedText = z.string().refine(isWellFormedText, 'must not contain NUL or a lone surrogate');

/**
 * A well-formed text of `min` to `max` UTF-16 code units (SPEC §1). The library's own bounds count code points, of
 * which a text never has more than units: its `max` alone would let twice as much through.
 */
export const textOf = ({ min, max }: { min: number; max: number }) =>
  wellFormedText
    .min(min)
    .max(max)
    .refine((text) => text.length <= max, `must be at most ${max} UTF-16 code units`);
