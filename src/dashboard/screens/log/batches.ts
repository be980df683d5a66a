/** The least time between two batches. Reading ten updates a second is more than anybody can. */
const batchMilliseconds = 100;

/**
 * Collects items, and gives them away together before the browser paints.
 * @param most keeps only the newest ones: a page in the background paints nothing
 */
export function createBatches<Item>(most: number, give: (items: readonly Item[]) => void) {
  let items: Item[] = [];
  let frame: number | null = null;
  let last = 0;
  const paint = (now: number) => {
    if (now - last < batchMilliseconds) {
      frame = requestAnimationFrame(paint);
      return;
    }
    frame = null;
    last = now;
    const batch = items;
    items = [];
    give(batch);
  };
  return {
    add: (item: Item) => {
      items.push(item);
      if (items.length > 2 * most) items = items.slice(-most);
      frame ??= requestAnimationFrame(paint);
    },
    stop: () => {
      if (frame !== null) cancelAnimationFrame(frame);
    },
  };
}
