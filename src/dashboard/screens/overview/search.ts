import type { MetricsPeriod } from '../../generated/graphql.ts';

export const periods = [
  { value: 'day', label: 'Last 24 hours' },
  { value: 'week', label: 'Last 7 days' },
  { value: 'month', label: 'Last 30 days' },
] as const satisfies readonly { readonly value: MetricsPeriod; readonly label: string }[];

/** What the screen shows, as it is in its URL. */
export interface OverviewSearch {
  /** The last 24 hours if it is missing. */
  readonly period?: MetricsPeriod;
  /** The id of one application; all of them if it is missing. */
  readonly application?: string;
}

/** Reads what to show from a URL; what does not fit is left out. */
export function readOverviewSearch({ period, application }: Record<string, unknown>): OverviewSearch {
  const known = periods.find(({ value }) => value === period);
  return {
    ...(known !== undefined && { period: known.value }),
    ...(typeof application === 'string' && application !== '' && { application }),
  };
}
