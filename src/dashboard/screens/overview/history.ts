import type { OverviewFiguresQuery } from '../../generated/graphql.ts';
import { numberText } from '../../ui/format.ts';

export type History = NonNullable<OverviewFiguresQuery['metricsHistory']>;

const sum = (rows: readonly { readonly count: number }[]): number =>
  rows.reduce((total, { count }) => total + count, 0);

export const validationsOf = ({ validations }: History): number => sum(validations);

export const refusalsOf = ({ validations }: History): number =>
  sum(validations.filter(({ code }) => code !== 'OK'));

/** How many active licenses expire within so many days, today among them. */
export const expiriesWithin = ({ expiries }: History, days: number): number => sum(expiries.slice(0, days));

/** Such as "1.8%"; few of many are not "0%". */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  return part > 0 && percent < 0.1 ? '< 0.1%' : `${percent.toFixed(percent < 10 ? 1 : 0).replace('.0', '')}%`;
}

/** Such as "1 license" or "2 licenses". */
export const amountText = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;
