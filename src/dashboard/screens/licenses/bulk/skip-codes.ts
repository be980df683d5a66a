/** Why a license was skipped, in words. */
const meanings: Readonly<Record<string, string>> = {
  LICENSE_NOT_FOUND: 'was deleted, or belongs to another application',
  NOT_MATCHED: 'no longer matches the filter',
  UNCHANGED: 'is like this already',
  INVALID_TRANSITION: 'is in a state in which this makes no sense',
  VALIDATION_FAILED: 'would end after the year 9999, or have more than 20 tags',
  UNAVAILABLE: 'was not reached in time',
  RATE_LIMITED: 'was not reached, because too much was asked for at once',
  UNAUTHENTICATED: 'was not reached, because your session has ended',
};

export const meaningOf = (code: string): string => meanings[code] ?? code;

/** Codes of licenses whose turn did not come: a continued run may change them. */
const unreached: ReadonlySet<string> = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'UNAUTHENTICATED']);

export const isUnreached = (code: string | null | undefined): boolean => unreached.has(code ?? '');
