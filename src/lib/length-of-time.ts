const minute = 60_000;

/** Formats the absolute value of a duration for people, in seconds, minutes, hours or days. */
export function lengthOfTime(milliseconds: number): string {
  const minutes = Math.abs(milliseconds) / minute;
  if (minutes < 2) return `${Math.round(minutes * 60)} seconds`;
  if (minutes < 120) return `${Math.round(minutes)} minutes`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 60 / 24)} days`;
}
