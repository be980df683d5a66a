/** One color of a chart. */
export interface ChartSeries {
  readonly name: string;
  /** A color of CSS, which may use the tokens. */
  readonly color: string;
  /** One value for each place. */
  readonly values: readonly number[];
}

/** Bars that are stacked: what a chart and its table show. */
export interface Chart {
  readonly title: string;
  /** What it says as a whole, in a sentence. */
  readonly summary: string;
  /** What to do where there is nothing to show. */
  readonly empty: string;
  /** What the places are, such as "Hour". */
  readonly place: string;
  /** Short names below the bars, and the full names of the same places. */
  readonly ticks: readonly string[];
  readonly names: readonly string[];
  /** From the bottom to the top. */
  readonly series: readonly ChartSeries[];
}

export const totalAt = ({ series }: Chart, index: number): number =>
  series.reduce((total, { values }) => total + (values[index] ?? 0), 0);

export const isEmpty = ({ series }: Chart): boolean =>
  series.every(({ values }) => values.every((value) => value === 0));
