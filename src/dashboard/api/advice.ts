import type { ApiError } from './api-error.ts';

/** What to do about an error, where its message does not say it. */
const advice: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'Wait a minute, then try again.',
  UNAVAILABLE: 'The service or its database is unavailable for a moment. Try again shortly.',
  UNREACHABLE: 'Nothing was lost here. Check your connection, then try again.',
  TOO_MANY_READS: 'Many lists are being read at once. Try again in a moment.',
  SEARCH_TOO_BROAD: 'Add a filter, or search for a longer text.',
  INTERNAL: 'Try again. If it stays, the operator finds the cause in the log of the service.',
  LIMIT_REACHED: 'Delete what you no longer need.',
};

export const adviceFor = ({ code }: ApiError): string | undefined => advice[code];
