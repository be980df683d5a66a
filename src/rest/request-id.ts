import { newId } from '../lib/ids.ts';

/**
 * A valid caller-supplied request id: a short token without line breaks or markup. Ids are logged, so a value that
 * contains an API key or its prefix is not valid.
 */
const requestId = /^(?!.*service_live_)[A-Za-z0-9._-]{1,64}$/;

/**
 * The request id: the caller's, if valid, so that logs of several services can be correlated; otherwise a new one.
 * @param header value of `X-Request-Id`
 */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && requestId.test(header) ? header : newId();
