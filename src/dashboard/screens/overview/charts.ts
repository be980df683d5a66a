import { type Tone, toneOfCode } from '../../ui/status.tsx';
import { licenseStatuses } from '../licenses/search.ts';
import type { Chart, ChartSeries } from './chart.ts';
import { amountText, expiriesWithin, type History, refusalsOf, shareText, validationsOf } from './history.ts';
import { bucketName, bucketTick, dayName, dayTick } from './places.ts';

const dayMilliseconds = 86_400_000;

/** The most codes that have a color of their own; the rest share one. */
const mostRefusals = 4;

/** Codes of the same tone differ in how strong it is. */
const strengths = [100, 62, 38, 80];

const colorOf = (tone: Tone, index: number): string =>
  `color-mix(in srgb, var(--${tone}) ${strengths[index % strengths.length]}%, var(--surface))`;

const bucketPlaces = ({ from, bucketSeconds, activations }: History) => {
  const starts = activations.map((_, index) => Date.parse(from) + index * bucketSeconds * 1000);
  return {
    place: bucketSeconds < 86_400 ? 'Time' : 'Day (UTC)',
    starts,
    ticks: starts.map((start) => bucketTick(start, bucketSeconds)),
    names: starts.map((start) => bucketName(start, bucketSeconds)),
  };
};

/** How often each verdict was given. */
export function verdictsChart(history: History): Chart {
  const { starts, ...places } = bucketPlaces(history);
  const totals = new Map<string, number>();
  for (const { code, count } of history.validations) totals.set(code, (totals.get(code) ?? 0) + count);
  const refusals = [...totals.keys()]
    .filter((code) => code !== 'OK')
    .sort((one, other) => (totals.get(other) ?? 0) - (totals.get(one) ?? 0));
  const named = refusals.slice(0, refusals.length > mostRefusals + 1 ? mostRefusals : mostRefusals + 1);
  const valuesOf = (matches: (code: string) => boolean): readonly number[] => {
    const values = starts.map(() => 0);
    for (const { startsAt, code, count } of history.validations) {
      const index = starts.indexOf(Date.parse(startsAt));
      if (index >= 0 && matches(code)) values[index] = (values[index] ?? 0) + count;
    }
    return values;
  };
  const seen = { ok: 0, warn: 0, bad: 0, idle: 0 };
  const series: ChartSeries[] = [
    {
      name: 'OK',
      color: 'color-mix(in srgb, var(--accent) 85%, var(--surface))',
      values: valuesOf((code) => code === 'OK'),
    },
    ...named.map((name) => {
      const tone = toneOfCode(name);
      const color = colorOf(tone, seen[tone]);
      seen[tone] += 1;
      return { name, color, values: valuesOf((code) => code === name) };
    }),
  ];
  if (named.length < refusals.length) {
    const others = new Set(refusals.slice(named.length));
    series.push({ name: 'Others', color: 'var(--idle)', values: valuesOf((code) => others.has(code)) });
  }
  const all = validationsOf(history);
  const refused = refusalsOf(history);
  return {
    title: history.bucketSeconds === 3_600 ? 'Verdicts by hour' : 'Verdicts',
    summary: `${amountText(all, 'validation')}, ${shareText(refused, all)} refused.`,
    empty: 'No program validated a license in this period.',
    ...places,
    series,
  };
}

/** How many licenses were used for the first time. */
export function activationsChart(history: History): Chart {
  const { starts: _, ...places } = bucketPlaces(history);
  const values = history.activations.map(({ count }) => count);
  const all = values.reduce((total, count) => total + count, 0);
  return {
    title: 'New activations',
    summary: `${amountText(all, 'license')} ${all === 1 ? 'was' : 'were'} used for the first time.`,
    empty: 'No license was used for the first time in this period.',
    ...places,
    series: [{ name: 'Activations', color: 'var(--accent)', values }],
  };
}

/** How many licenses expire on each of the next 90 days. */
export function expiriesChart(history: History): Chart {
  const starts = history.expiries.map(({ day }) => Date.parse(day));
  const all = expiriesWithin(history, starts.length);
  const first = history.expiries.find(({ count }) => count > 0);
  const wait =
    first === undefined ? 0 : Math.round((Date.parse(first.day) - (starts[0] ?? 0)) / dayMilliseconds);
  const next = wait === 0 ? 'today' : wait === 1 ? 'tomorrow' : `in ${wait} days`;
  return {
    title: 'Expire in the next 90 days',
    summary: `${amountText(all, 'active license')} will expire${all === 0 ? '.' : `, the next ${next}.`}`,
    empty: 'No active license expires in the next 90 days.',
    place: 'Day (UTC)',
    ticks: starts.map(dayTick),
    names: starts.map(dayName),
    series: [{ name: 'Licenses', color: 'var(--warn)', values: history.expiries.map(({ count }) => count) }],
  };
}

const statusColors = {
  unused: 'color-mix(in srgb, var(--idle) 55%, var(--surface))',
  active: 'var(--ok)',
  suspended: 'var(--warn)',
  expired: 'var(--idle)',
  banned: 'var(--bad)',
} as const;

const statusName = (status: string): string => status.charAt(0).toUpperCase() + status.slice(1);

/** How many licenses are in each state now. */
export function licensesChart({ licenses }: History): Chart {
  const names = licenseStatuses.map(statusName);
  return {
    title: 'Licenses by state',
    summary: `${amountText(licenses.total, 'license')}, ${shareText(licenses.active, licenses.total)} active.`,
    empty: 'There are no licenses. Mint keys to see their states here.',
    place: 'State',
    ticks: names,
    names,
    series: licenseStatuses.map((status, index) => ({
      name: statusName(status),
      color: statusColors[status],
      values: licenseStatuses.map((_, place) => (place === index ? licenses[status] : 0)),
    })),
  };
}
