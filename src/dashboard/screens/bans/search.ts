import type { BanType } from '../../generated/graphql.ts';

export const banTypes = ['hwid', 'ip'] as const satisfies readonly BanType[];

/** The filters of the screen, as they are in its URL. */
export interface BanSearch {
  readonly q?: string;
  readonly type?: BanType;
}

/** Reads the filters from a URL; what does not fit is left out. */
export function readBanSearch(search: Record<string, unknown>): BanSearch {
  // The router reads digits as a number.
  const q = typeof search.q === 'number' ? String(search.q) : search.q;
  const type = banTypes.find((known) => known === search.type);
  return {
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...(type === undefined ? {} : { type }),
  };
}
