import { lazy, Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card, Loading } from '../../ui/page.tsx';
import { type Chart, isEmpty } from './chart.ts';
import { ChartTable } from './chart-table.tsx';
import styles from './overview.module.css';

// uPlot comes after the figures above it.
const BarChart = lazy(() => import('./bar-chart.tsx').then(({ BarChart }) => ({ default: BarChart })));

interface ChartCardProps {
  readonly chart: Chart;
  readonly tall?: boolean;
}

/** A chart, which can be shown as a table. */
export function ChartCard({ chart, tall = false }: ChartCardProps) {
  const [asTable, setAsTable] = useState(false);
  const nothing = isEmpty(chart);
  return (
    <Card
      title={chart.title}
      aside={
        !nothing && (
          <Button
            small
            look={asTable ? 'plain' : 'quiet'}
            aria-pressed={asTable}
            aria-label={`${chart.title} as a table`}
            onClick={() => setAsTable(!asTable)}
          >
            Table
          </Button>
        )
      }
    >
      {nothing ? (
        <p className={styles.nothing} data-tall={tall}>
          {chart.empty}
        </p>
      ) : asTable ? (
        <ChartTable chart={chart} tall={tall} />
      ) : (
        <Suspense
          fallback={
            <div className={styles.nothing} data-tall={tall}>
              <Loading />
            </div>
          }
        >
          <BarChart chart={chart} tall={tall} />
        </Suspense>
      )}
    </Card>
  );
}
