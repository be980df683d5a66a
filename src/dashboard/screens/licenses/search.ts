import type { LicenseStatus } from '../../generated/graphql.ts';

export const licenseStatuses = [
  'unused',
  'active',
  'suspended',
  'expired',
  'banned',
] as const satisfies readonly LicenseStatus[];

/** The filters of the screen, as they are in its URL. */
export interface LicenseSearch {
  readonly q?: string;
  readonly status?: readonly LicenseStatus[];
  readonly tier?: number;
  readonly tag?: string;
  readonly policy?: string;
  /** Expires within so many days from now. */
  readonly expires?: number;
  /** Whether it is bound to a device. */
  readonly device?: boolean;
}

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const wholeOf = (value: unknown, largest: number): number | undefined => {
  const number = Number(value);
  return value !== '' && value !== null && Number.isInteger(number) && number >= 0 && number <= largest
    ? number
    : undefined;
};

const statusesOf = (value: unknown): readonly LicenseStatus[] | undefined => {
  const given = Array.isArray(value) ? value : [value];
  const known = licenseStatuses.filter((status) => given.includes(status));
  return known.length > 0 ? known : undefined;
};

const present = <Value>(name: string, value: Value | undefined) =>
  value === undefined ? {} : { [name]: value };

/** Reads the filters from a URL; what does not fit is left out. */
export const readLicenseSearch = (search: Record<string, unknown>): LicenseSearch => ({
  ...present('q', textOf(search.q)),
  ...present('status', statusesOf(search.status)),
  ...present('tier', wholeOf(search.tier, 2_147_483_647)),
  ...present('tag', textOf(search.tag)),
  ...present('policy', textOf(search.policy)),
  ...present('expires', wholeOf(search.expires, 3_650)),
  ...present('device', typeof search.device === 'boolean' ? search.device : undefined),
});
