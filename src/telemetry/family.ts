import { Counter, Gauge, type Registry } from 'prom-client';

/** A value with its labels, as one line of the page. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * What is known under one name, read when Prometheus asks: whoever counts raises a number, and pays nothing else.
 * Labels come from closed sets: no id, no address, nothing that a client wrote.
 */
export interface MetricFamily {
  /** With its base unit at the end, `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels?: readonly string[];
  /** How the values of several workers become one; their sum when left out. */
  readonly ofWorkers?: 'sum' | 'min' | 'max' | 'first';
  read(): Iterable<Sample>;
}

/** A family of one value without labels. */
export const single = (
  family: Omit<MetricFamily, 'read' | 'labels'> & { readonly value: () => number },
): MetricFamily => ({ ...family, read: () => [{ value: family.value() }] });

/** A family with one label. */
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

/** Has the registry show these. */
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
