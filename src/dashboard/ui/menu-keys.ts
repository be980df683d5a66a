/** The items of a menu, in their order. */
export const itemsOf = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? []),
];

/** The item that a key moves to: up, down, to an end, or to the next one that begins with a letter. */
export function itemFor(key: string, menu: HTMLElement | null): HTMLElement | undefined {
  const items = itemsOf(menu);
  const at = items.findIndex((item) => item.matches(':focus'));
  switch (key) {
    case 'ArrowDown':
      return items[(at + 1) % items.length];
    case 'ArrowUp':
      return items.at(at < 0 ? -1 : at - 1);
    case 'Home':
      return items[0];
    case 'End':
      return items.at(-1);
  }
  if (key.length !== 1 || key === ' ') return;
  const begins = (item: HTMLElement) => item.textContent.trim().toLowerCase().startsWith(key.toLowerCase());
  return items.slice(at + 1).find(begins) ?? items.find(begins);
}
