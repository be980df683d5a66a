/** Units of a length of time, longest first, in seconds. Years and months are those of licenses: 365 and 30 days. */
export const durationUnits = [
  { unit: 'years', seconds: 31_536_000 },
  { unit: 'months', seconds: 2_592_000 },
  { unit: 'days', seconds: 86_400 },
  { unit: 'hours', seconds: 3_600 },
  { unit: 'minutes', seconds: 60 },
  { unit: 'seconds', seconds: 1 },
] as const;

export type DurationUnit = (typeof durationUnits)[number]['unit'];

export interface Duration {
  readonly amount: number;
  readonly unit: DurationUnit;
}

export const secondsOf = ({ amount, unit }: Duration): number =>
  amount * (durationUnits.find((known) => known.unit === unit)?.seconds ?? 1);

/** Up to here, vendors say days rather than months. */
const mostDays = 90 * 86_400;

/** The largest unit that fits a whole number of times. */
export function durationOf(seconds: number, fallback: DurationUnit = 'days'): Duration {
  const fitting = durationUnits.find(
    (known) =>
      seconds >= known.seconds &&
      seconds % known.seconds === 0 &&
      (known.unit !== 'months' || seconds > mostDays),
  );
  return fitting === undefined
    ? { amount: 0, unit: fallback }
    : { amount: seconds / fitting.seconds, unit: fitting.unit };
}

/** Such as "days", or "day" for one. */
export const unitText = (unit: DurationUnit, amount: number): string =>
  amount === 1 ? unit.slice(0, -1) : unit;

/** Such as "30 days" or "1 year". */
export function durationText(seconds: number): string {
  const { amount, unit } = durationOf(seconds, 'seconds');
  return `${amount.toLocaleString('en')} ${unitText(unit, amount)}`;
}
