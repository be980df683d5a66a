/** Shorter passphrases are not taken. */
export const leastLetters = 12;

export interface Advice {
  readonly isGood: boolean;
  readonly text: string;
}

/** What to say about a passphrase while it is typed: what counts is how long it takes to guess. */
export function adviceOn(passphrase: string): Advice | null {
  if (passphrase === '') return null;
  const letters = passphrase.trim().length;
  const words = new Set(
    passphrase
      .toLowerCase()
      .split(/[\s-]+/)
      .filter((word) => word.length > 2),
  ).size;
  const kinds = new Set(passphrase).size;
  if (letters < leastLetters) {
    return { isGood: false, text: `Too short: use at least ${leastLetters} characters.` };
  }
  if (kinds < 7) return { isGood: false, text: 'Weak: it repeats itself.' };
  if (words >= 5 || letters >= 24) {
    return { isGood: true, text: 'Good, if it is not a saying, a title, or a line of a song.' };
  }
  return {
    isGood: false,
    text: 'It could be guessed by somebody who steals the database. Use five or more random words.',
  };
}
