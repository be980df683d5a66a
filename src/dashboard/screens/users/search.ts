/** The filters of the screen, as they are in its URL. */
export interface UserSearch {
  readonly q?: string;
}

/** Reads the filters from a URL; what does not fit is left out. */
export function readUserSearch(search: Record<string, unknown>): UserSearch {
  return typeof search.q === 'string' && search.q !== '' ? { q: search.q } : {};
}
