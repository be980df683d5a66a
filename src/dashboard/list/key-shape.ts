import { defaultMask } from '../vault/private-keys.ts';

/** A letter of a key that stands for an X of its mask. */
const letter = '[2-9A-HJ-NP-Z]';

/** Keys of any mask of letters in groups, and what is left of one while it is typed. */
const grouped = new RegExp(`^${letter}{4,}(?:-${letter}{2,}){2,}-?$|^${letter}{16,}$`, 'i');

const patternOf = (mask: string): RegExp =>
  new RegExp(
    `^${mask.replaceAll(/[^X]/g, (other) => `\\x${other.charCodeAt(0).toString(16)}`).replaceAll('X', letter)}$`,
    'i',
  );

/**
 * Whether a text looks like a whole license key rather than its prefix. Whole keys must stay out of addresses, histories
 * and logs.
 */
export const looksLikeKey = (text: string, mask: string | null | undefined): boolean =>
  grouped.test(text) || patternOf(mask ?? defaultMask).test(text);
