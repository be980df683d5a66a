const day = 86_400;
const hour = 3_600;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
// Days of the service are days in UTC; in another time zone they would have the wrong names.
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const longDays = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

export const dayTick = (start: number): string => days.format(start);
export const dayName = (start: number): string => longDays.format(start);

/** The short name of a bucket. Those of less than a day are in the reader's time zone. */
export function bucketTick(start: number, seconds: number): string {
  if (seconds >= day) return dayTick(start);
  return seconds <= hour ? clock.format(start) : `${weekday.format(start)} ${clock.format(start)}`;
}

/** Such as "14:00–15:00". */
export function bucketName(start: number, seconds: number): string {
  if (seconds >= day) return dayName(start);
  return `${bucketTick(start, seconds)}–${clock.format(start + seconds * 1000)}`;
}
