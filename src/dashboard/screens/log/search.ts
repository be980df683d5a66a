/** The filters of the screen, as they are in its URL. Names of events and codes are checked where they are used. */
export interface LogSearch {
  readonly q?: string;
  readonly events?: readonly string[];
  readonly codes?: readonly string[];
  /** Ids. */
  readonly license?: string;
  readonly user?: string;
  /** ISO 8601. */
  readonly from?: string;
  readonly to?: string;
}

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const namesOf = (value: unknown): readonly string[] | undefined => {
  const names = (Array.isArray(value) ? value : [value]).filter(
    (name) => typeof name === 'string' && /^\w{1,64}$/.test(name),
  );
  return names.length > 0 ? names.slice(0, 50) : undefined;
};

const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[0-9a-f-]{36}$/i.test(value) ? value : undefined;

const momentOf = (value: unknown): string | undefined =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined;

const present = <Value>(name: string, value: Value | undefined) =>
  value === undefined ? {} : { [name]: value };

/** Reads the filters from a URL; what does not fit is left out. */
export const readLogSearch = (search: Record<string, unknown>): LogSearch => ({
  ...present('q', textOf(search.q)),
  ...present('events', namesOf(search.events)),
  ...present('codes', namesOf(search.codes)),
  ...present('license', idOf(search.license)),
  ...present('user', idOf(search.user)),
  ...present('from', momentOf(search.from)),
  ...present('to', momentOf(search.to)),
});
