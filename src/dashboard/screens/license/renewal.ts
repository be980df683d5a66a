import type { RenewalBasis } from '../../generated/graphql.ts';
import { durationText } from '../../ui/duration.ts';
import { momentText } from '../../ui/format.ts';
import type { LicenseData } from './license-data.ts';

/** The latest expiry that the service accepts. */
const latest = Date.parse('9999-12-31T23:59:59Z');

/** What a renewal leads to, in words. The service decides; this is what it will most likely do. */
export function renewalText(license: LicenseData, seconds: number, basis: RenewalBasis, now: number): string {
  const { expiresAt, durationSeconds, clockStopped, suspendedAt } = license;
  if (!expiresAt) return `Its term becomes ${durationText(durationSeconds + seconds)} from the first use.`;
  const expiry = new Date(expiresAt).getTime();
  // While its clock is stopped, "now" is when it was stopped.
  const current = clockStopped && suspendedAt ? new Date(suspendedAt).getTime() : now;
  const startsNow = basis === 'from_now' || (basis === 'from_now_if_expired' && expiry <= current);
  const end = (startsNow ? current : expiry) + seconds * 1000;
  if (end > latest) return 'No license ends after the year 9999: choose a shorter time.';
  const earlier = end < expiry ? ' That is earlier than now: its leases are revoked.' : '';
  const past = end <= current ? ' That is in the past: it stays expired.' : '';
  return `It will expire on ${momentText(new Date(end).toISOString())}.${earlier}${past}`;
}
