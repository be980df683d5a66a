import { Counter, Gauge, type Registry } from 'prom-client';

/** A value with its labels: one line of the metrics page. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A metric. Values are read when Prometheus scrapes, so that counting costs only an increment. Label values come from
 * closed sets: no ids, addresses or client input.
 */
export interface MetricFamily {
  /** Ends with the base unit, or with `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels?: readonly string[];
  /** How the values of several workers are combined. Default: sum. */
  readonly ofWorkers?: 'sum' | 'min' | 'max' | 'first';
  read(): Iterable<Sample>;
}

/** A metric with one value and no labels. */
export const single = (
  family: Omit<MetricFamily, 'read' | 'labels'> & { readonly value: () => number },
): MetricFamily => ({ ...family, read: () => [{ value: family.value() }] });

/** A metric with one label. */
export const labelled = (
  family: Omit<MetricFamily, 'read' | 'labels'> & {
    readonly label: string;
    readonly values: () => Iterable<readonly [name: string, value: number]>;
  },
): MetricFamily => ({
  ...family,
  labels: [family.label],
  read: () => Array.from(family.values(), ([name, value]) => ({ labels: { [family.label]: name }, value })),
});

/** Registers metric families. */
export function register(registry: Registry, families: Iterable<MetricFamily>): void {
  for (const { name, help, type, labels = [], ofWorkers = 'sum', read } of families) {
    const options = { name, help, labelNames: labels, aggregator: ofWorkers, registers: [registry] };
    if (type === 'gauge') {
      new Gauge({
        ...options,
        collect() {
          this.reset();
          for (const sample of read()) this.set({ ...sample.labels }, sample.value);
        },
      });
    } else {
      new Counter({
        ...options,
        collect() {
          this.reset();
          for (const sample of read()) this.inc({ ...sample.labels }, sample.value);
        },
      });
    }
  }
}
