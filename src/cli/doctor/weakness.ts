/** Words in secrets that were copied from documentation or made up in haste. */
const placeholder =
  /change.?me|changeit|example|placeholder|password|secret|default|dummy|qwerty|letmein|your[-_ ]/i;
/** By the estimate below, 32 random bytes have more in every usual encoding. */
const minBits = 128;

/** Why a secret may be guessable, without revealing any of it; null if no weakness was found. */
export function weaknessOf(secret: string): string | null {
  if (placeholder.test(secret)) return 'it contains a word that is common in placeholders';
  if (hasPeriod(secret)) return 'it repeats itself';
  if (stepsOf(secret) > secret.length / 2) return 'it is a sequence of neighbouring characters';
  return entropyOf(secret) * secret.length < minBits ? 'it has too few different characters' : null;
}

const hasPeriod = (text: string): boolean => (text + text).indexOf(text, 1) < text.length;

/** The number of characters followed by the same or an adjacent character code. */
const stepsOf = (text: string): number =>
  [...text].filter((_, index) => Math.abs(text.charCodeAt(index + 1) - text.charCodeAt(index)) <= 1).length;

/** Shannon entropy in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}
