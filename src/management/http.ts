import { untilAborted } from './deadline.ts';
import { ManagementError } from './errors.ts';
import type { Settings } from './options.ts';

/** An answer of HTTP, read whole. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Posts an operation and answers as soon as the answer's head is there. Follows no redirect: what stands at its end
 * would be given the key, or would answer for the service.
 * @throws {ManagementError}
 */
export async function post(
  { baseUrl, apiKey, fetch, headers: given }: Settings,
  body: { readonly query: string; readonly variables: unknown },
  accept: string,
  signal: AbortSignal,
): Promise<Response> {
  const text = JSON.stringify(body);
  const headers = new Headers(given);
  headers.set('content-type', 'application/json');
  headers.set('accept', accept);
  if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
  const response = await orFailure(signal, () =>
    fetch(`${baseUrl}/graphql`, {
      method: 'POST',
      headers,
      body: text,
      redirect: 'manual',
      // The service prefers a cookie to a key; with a key a browser must not send its own.
      credentials: apiKey === undefined ? 'include' : 'omit',
      cache: 'no-store',
      signal,
    }),
  );
  if (!isRedirect(response)) return response;
  response.body?.cancel().catch(() => undefined);
  throw new ManagementError(
    'BAD_ANSWER',
    `${baseUrl} answers with a redirect${targetOf(response)}, which is not followed. Set baseUrl to where the service is.`,
    { status: response.status || undefined },
  );
}

/** The whole of an answer. @throws {ManagementError} */
export async function readWhole(response: Response, signal: AbortSignal): Promise<HttpAnswer> {
  try {
    const text = await orFailure(signal, () => response.text());
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    // Frees the connection where fetch ignores its signal.
    response.body?.cancel().catch(() => undefined);
    throw error;
  }
}

/** What a promise of fetch's answers; its rejection as the signal's reason or as NETWORK. @throws {ManagementError} */
export async function orFailure<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  try {
    if (signal.aborted) throw signal.reason;
    return await untilAborted(start(), signal);
  } catch (thrown) {
    if (thrown instanceof ManagementError) throw thrown;
    if (signal.aborted && signal.reason instanceof ManagementError) throw signal.reason;
    const message = 'The service cannot be reached, or the connection broke off before the answer was whole';
    throw new ManagementError('NETWORK', message, { cause: thrown });
  }
}

/** Browsers hide the status of a redirect; a fetch that was passed in may have followed it all the same. */
const isRedirect = ({ status, type, redirected }: Response) =>
  redirected || type === 'opaqueredirect' || (status >= 300 && status < 400);

/** Where it leads, as far as it helps: an address can have secrets below its host. */
function targetOf(response: Response): string {
  const location = response.redirected ? response.url : response.headers.get('location');
  if (location === null || !URL.canParse(location)) return '';
  return ` to ${new URL(location).origin}`;
}
