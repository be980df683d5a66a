/** The filters of the screen, as they are in its URL. */
export interface UserSearch {
  readonly q?: string;
  /** Whether they have a license. */
  readonly license?: boolean;
  /** Whether their last device is known. */
  readonly device?: boolean;
  readonly tier?: number;
}

const textOf = (value: unknown): string | undefined => {
  // The router reads digits as a number.
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const present = <Value>(name: string, value: Value | undefined) =>
  value === undefined ? {} : { [name]: value };

const isTier = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647;

/** Reads the filters from a URL; what does not fit is left out. */
export const readUserSearch = (search: Record<string, unknown>): UserSearch => ({
  ...present('q', textOf(search.q)),
  ...present('license', typeof search.license === 'boolean' ? search.license : undefined),
  ...present('device', typeof search.device === 'boolean' ? search.device : undefined),
  ...present('tier', isTier(search.tier) ? search.tier : undefined),
});
