import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { MetricsPeriod } from '../../generated/graphql.ts';
import { Loading, Problem } from '../../ui/page.tsx';
import { ChartCard } from './chart-card.tsx';
import { activationsChart, expiriesChart, licensesChart, verdictsChart } from './charts.ts';
import { LivePanel } from './live-panel.tsx';
import { NextStep } from './next-step.tsx';
import styles from './overview.module.css';
import { Tiles } from './tiles.tsx';

const OverviewFigures = graphql(`
  query OverviewFigures($period: MetricsPeriod!, $application: ID) {
    metricsHistory(period: $period, applicationId: $application) {
      from
      bucketSeconds
      validations {
        startsAt
        code
        count
      }
      activations {
        startsAt
        count
      }
      expiries {
        day
        count
      }
      licenses {
        total
        unused
        active
        suspended
        expired
        banned
      }
    }
  }
`);

/** Validations make no event, so that they are counted again from time to time. */
const roundMilliseconds = 15_000;

interface FiguresProps {
  readonly period: MetricsPeriod;
  /** Null: all applications. */
  readonly application: string | null;
  /** The application if all figures are of one, also because there is no other. */
  readonly only: string | null;
}

export function Figures({ period, application, only }: FiguresProps) {
  const { data, error, refetch } = useQuery({
    ...queryOf(OverviewFigures, { period, application }, ['license', 'application']),
    placeholderData: keepPreviousData,
    refetchInterval: roundMilliseconds,
  });
  if (error !== null && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const history = present(data.metricsHistory);
  return (
    <div className={styles.figures}>
      {only !== null && <NextStep applicationId={only} history={history} />}
      <Tiles applicationId={only} history={history} />
      <div className={styles.main}>
        <ChartCard chart={verdictsChart(history)} tall />
        <LivePanel application={only} />
      </div>
      <div className={styles.row}>
        <ChartCard chart={activationsChart(history)} />
        <ChartCard chart={expiriesChart(history)} />
        <ChartCard chart={licensesChart(history)} />
      </div>
    </div>
  );
}
