/** Whether the letters of a text occur in a name in their order, such as "lg" in "Log". */
function hasInOrder(name: string, text: string): boolean {
  let at = 0;
  for (const letter of text) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** How well a name matches a text: 0 is best; null if it does not match. */
export function matchOf(name: string, text: string): number | null {
  const inName = name.toLowerCase();
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return 0;
  if (inName.startsWith(wanted)) return 0;
  if (inName.includes(` ${wanted}`)) return 1;
  if (inName.includes(wanted)) return 2;
  const words = wanted.split(/\s+/);
  if (words.length > 1 && words.every((word) => inName.includes(word))) return 3;
  return hasInOrder(inName, wanted.replaceAll(' ', '')) ? 4 : null;
}

/** The items that match, the best first; equal ones stay in their order. */
export const matching = <Item extends { readonly name: string }>(
  items: readonly Item[],
  text: string,
): readonly Item[] =>
  items
    .flatMap((item) => {
      const match = matchOf(item.name, text);
      return match === null ? [] : [{ item, match }];
    })
    .sort((one, other) => one.match - other.match)
    .map(({ item }) => item);
