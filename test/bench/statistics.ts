/** The value below which this share of the values lies: the nearest rank. NaN of no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle. NaN of no values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
