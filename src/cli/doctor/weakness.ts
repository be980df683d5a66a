/** What secrets of documentation and of haste have in them. */
const placeholder =
  /change.?me|changeit|example|placeholder|password|secret|default|dummy|qwerty|letmein|your[-_ ]/i;
/** The least that a random secret of 32 bytes has in any usual spelling, by the estimate below. */
const leastBits = 128;

/** Why a secret may be guessed, in words that tell nothing of it; null where nothing speaks against it. */
export function weaknessOf(secret: string): string | null {
  if (placeholder.test(secret)) return 'it has a word in it that placeholders have';
  if (hasPeriod(secret)) return 'it repeats itself';
  if (stepsOf(secret) > secret.length / 2) return 'it is a sequence of neighbouring characters';
  return entropyOf(secret) * secret.length < leastBits ? 'it has too few different characters' : null;
}

const hasPeriod = (text: string): boolean => (text + text).indexOf(text, 1) < text.length;

/** How many characters are followed by their neighbour or themselves. */
const stepsOf = (text: string): number =>
  [...text].filter((_, index) => Math.abs(text.charCodeAt(index + 1) - text.charCodeAt(index)) <= 1).length;

/** Shannon's, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}
