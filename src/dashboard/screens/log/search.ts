/** The filters of the screen, as they are in its URL. */
export interface LogSearch {
  readonly q?: string;
}

/** Reads the filters from a URL; what does not fit is left out. */
export function readLogSearch(search: Record<string, unknown>): LogSearch {
  return typeof search.q === 'string' && search.q !== '' ? { q: search.q } : {};
}
