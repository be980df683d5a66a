const numbers = new Intl.NumberFormat('en');
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const daysOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export const numberText = (value: number): string => numbers.format(value);

/** A list's count: at least so many where the service stopped counting. */
export const countText = (total: number, isExact = true): string =>
  `${isExact ? '' : 'over '}${numberText(total)}`;

/** Such as "3 Dec", with the year unless it is this one. */
export function dayText(iso: string): string {
  const date = new Date(iso);
  return (date.getFullYear() === new Date().getFullYear() ? daysOfYear : days).format(date);
}

/** The full date and time in the reader's time zone. */
export const momentText = (iso: string): string => moments.format(new Date(iso));

/** The time of day to the second. */
export const clockText = (iso: string): string => clock.format(new Date(iso));

const steps = [
  { unit: 'd', long: 'days', seconds: 86_400 },
  { unit: 'h', long: 'hours', seconds: 3_600 },
  { unit: 'min', long: 'minutes', seconds: 60 },
] as const;

/** Such as "in 12 days", "2 min ago" or "just now". */
export function relativeText(iso: string, now: number): string {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000);
  const distance = Math.abs(seconds);
  const step = steps.find((candidate) => distance >= candidate.seconds);
  if (step === undefined) return seconds > 0 ? 'in a moment' : 'just now';
  const amount = Math.floor(distance / step.seconds);
  const unit = step.unit === 'd' ? (amount === 1 ? 'day' : 'days') : step.unit;
  return seconds > 0 ? `in ${numberText(amount)} ${unit}` : `${numberText(amount)} ${unit} ago`;
}
