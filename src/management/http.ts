import { untilAborted } from './deadline.ts';
import { ManagementError } from './errors.ts';
import type { Settings } from './options.ts';

/** An HTTP response with its whole body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Posts an operation and resolves when the response headers arrive. It follows no redirects: another server would
 * receive the API key, or respond in the service's place.
 * @throws {ManagementError}
 */
export async function post(
  { baseUrl, apiKey, fetch, headers: customHeaders }: Settings,
  body: { readonly query: string; readonly variables: unknown },
  { accept, idempotencyKey }: { readonly accept: string; readonly idempotencyKey?: string | undefined },
  signal: AbortSignal,
): Promise<Response> {
  const text = JSON.stringify(body);
  const headers = new Headers(customHeaders);
  headers.set('content-type', 'application/json');
  headers.set('accept', accept);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
  const response = await orFailure(signal, () =>
    fetch(`${baseUrl}/graphql`, {
      method: 'POST',
      headers,
      body: text,
      redirect: 'manual',
      // The service prefers a cookie to an API key, so with a key the browser must not send its cookie.
      credentials: apiKey === undefined ? 'include' : 'omit',
      cache: 'no-store',
      signal,
    }),
  );
  if (!isRedirect(response)) return response;
  response.body?.cancel().catch(() => undefined);
  throw new ManagementError(
    'BAD_ANSWER',
    `${baseUrl} sent a redirect${targetOf(response)}, which is not followed. Set baseUrl to the service's own URL.`,
    { status: response.status || undefined },
  );
}

/** Reads the whole response. @throws {ManagementError} */
export async function readWhole(response: Response, signal: AbortSignal): Promise<HttpAnswer> {
  try {
    const text = await orFailure(signal, () => response.text());
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    // Frees the connection if fetch ignores its signal.
    response.body?.cancel().catch(() => undefined);
    throw error;
  }
}

/** Awaits a fetch promise; converts a rejection to the signal's reason or to NETWORK. @throws {ManagementError} */
export async function orFailure<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  try {
    if (signal.aborted) throw signal.reason;
    return await untilAborted(start(), signal);
  } catch (thrown) {
    if (thrown instanceof ManagementError) throw thrown;
    if (signal.aborted && signal.reason instanceof ManagementError) throw signal.reason;
    const message = 'The service is unreachable, or the connection was lost before the response was complete';
    throw new ManagementError('NETWORK', message, { cause: thrown });
  }
}

/** Browsers hide the status of a redirect, and a custom fetch may have followed it. */
const isRedirect = ({ status, type, redirected }: Response) =>
  redirected || type === 'opaqueredirect' || (status >= 300 && status < 400);

/** The redirect target's origin. The rest of the URL is omitted because it can contain secrets. */
function targetOf(response: Response): string {
  const location = response.redirected ? response.url : response.headers.get('location');
  if (location === null || !URL.canParse(location)) return '';
  return ` to ${new URL(location).origin}`;
}
