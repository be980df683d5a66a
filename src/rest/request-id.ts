import { newId } from '../lib/ids.ts';

/**
 * What a caller may name a request by: a short token, in which no line can end and nothing can be marked up. One that
 * has an API key in it, or the beginning of one, is none, as names are logged.
 */
const requestId = /^(?!.*service_live_)[A-Za-z0-9._-]{1,64}$/;

/** The caller's name for a request, so that logs of several services can be read together; an id of ours for any other. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && requestId.test(given) ? given : newId();
