/**
 * Counts by one label. What is counted has one of the names that were given at first, or is `other`: so nothing that
 * a client sends can make a page of metrics grow.
 */
export interface LabelledCounter {
  add(name: string): void;
  /** Every name with its count, those that have not come yet included: a rate is known from the first one on. */
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
