import type { BulkKind } from './acts.ts';

/** What licenses are that were skipped. */
const meanings: Readonly<Record<string, string>> = {
  LICENSE_NOT_FOUND: 'deleted, or not of this application',
  NOT_MATCHED: 'no longer matching the filter',
  UNCHANGED: 'already like this',
  VALIDATION_FAILED: 'the expiry would be after the year 9999, or there would be more than 20 tags',
  UNAVAILABLE: 'not reached in time',
  RATE_LIMITED: 'not reached, because too much was asked for at once',
  UNAUTHENTICATED: 'not reached, because your session has ended',
};

/** The states in which an act makes no sense. */
const unsuitable: Partial<Record<BulkKind, string>> = {
  suspend: 'already suspended, or banned',
  reinstate: 'not suspended',
  renew: 'banned, or without an expiry',
  ban: 'already banned',
  unban: 'not banned',
};

export const meaningOf = (code: string, kind: BulkKind): string =>
  (code === 'INVALID_TRANSITION'
    ? (unsuitable[kind] ?? 'in a state in which this makes no sense')
    : meanings[code]) ?? code;

/** Codes of licenses whose turn did not come: a continued run may change them. */
const unreached: ReadonlySet<string> = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'UNAUTHENTICATED']);

export const isUnreached = (code: string | null | undefined): boolean => unreached.has(code ?? '');
