/** The service's mask of license keys, where neither the account nor a policy has one. */
export const serviceMask = 'XXXXX-XXXXX-XXXXX-XXXXX-XXXXX';

/** Letters of keys, shuffled once, so that an example stays the same while its mask is typed. */
const letters = 'VJ7PC8KQ2M3SXW4HF9RTB6ND5YAGZLUE';

/** A key as a mask could give it. It is no key: it is the same each time. */
export function exampleKey(mask: string): string {
  let next = 0;
  return mask.replaceAll('X', () => letters.charAt((next++ * 11) % letters.length));
}
