/**
 * Counts by one label. Names that were not declared count as `other`, so that clients cannot add series to the metrics
 * page.
 */
export interface LabelledCounter {
  add(name: string): void;
  /** All names with their counts, including zero counts, so that rates include the first increment. */
  entries(): Iterable<readonly [name: string, count: number]>;
}

export function createLabelledCounter(names: readonly string[]): LabelledCounter {
  const counts = new Map<string, number>([...names, 'other'].map((name) => [name, 0]));
  return {
    add: (name) => {
      const known = counts.has(name) ? name : 'other';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    },
    entries: () => counts,
  };
}
