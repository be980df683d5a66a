import { numberText } from '../../ui/format.ts';
import { SimpleTable } from '../../ui/simple-table.tsx';
import { type Chart, totalAt } from './chart.ts';
import styles from './overview.module.css';

interface ChartTableProps {
  readonly chart: Chart;
  readonly tall: boolean;
}

/** Codes are long words, which narrow screens break at their underscores. */
const breakable = (name: string): string => name.replaceAll('_', '_\u200b');

/** The numbers of a chart, without the places where nothing happened. */
export function ChartTable({ chart, tall }: ChartTableProps) {
  const { title, place, names, series } = chart;
  // Where each place has its own series, the series would only repeat the place.
  const isOneEach =
    series.length === names.length && series.every(({ name }, index) => name === names[index]);
  const rows = names.map((_, index) => index).filter((index) => isOneEach || totalAt(chart, index) > 0);
  const columns = isOneEach
    ? [{ header: 'Number', number: true, cell: (index: number) => numberText(totalAt(chart, index)) }]
    : series.map(({ name, values }) => ({
        header: breakable(name),
        number: true,
        cell: (index: number) => numberText(values[index] ?? 0),
      }));
  return (
    // A region that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section className={styles.scroll} data-tall={tall} tabIndex={0} aria-label={title}>
      <SimpleTable
        label={title}
        rows={rows}
        keyOf={(index) => index}
        columns={[{ header: place, cell: (index) => names[index] }, ...columns]}
      />
    </section>
  );
}
