import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { describeTlsFailure } from '../../lib/tls-failure.ts';
import { readAnswer } from './read-answer.ts';
import { findAddresses, type ResolveHost, resolveHost } from './resolve.ts';
import { type AllowedRanges, refusalOfUrl } from './url.ts';

/** One POST to a webhook's URL. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of a request. */
export interface WebhookAnswer {
  /** Null if there was no HTTP response. */
  readonly statusCode: number | null;
  /** The first 1,024 bytes of the response body, as text; null without a response. */
  readonly answer: string | null;
  /** Why there was no response, in words; null if there was one. */
  readonly error: string | null;
  /** From the beginning of the request to its end, in whole milliseconds. */
  readonly latencyMilliseconds: number;
  /** The value of Retry-After; null without it. */
  readonly retryAfter: string | null;
}

export interface SendOptions {
  readonly allowed: AllowedRanges;
  /** Aborted when the service stops. */
  readonly signal?: AbortSignal;
  readonly resolve?: ResolveHost;
  /** The time limit of name resolution, connection, request and response together, in milliseconds. */
  readonly timeLimit?: number;
  /** Certificates of authorities that are trusted instead of the known ones, for tests. */
  readonly ca?: string;
}

/** The time limit of an attempt, in milliseconds. */
export const attemptMilliseconds = 15_000;
const maxHeaderBytes = 16_384;
/** How long one of several addresses may take to accept a connection before the next one is tried, in milliseconds. */
const connectOptions = { autoSelectFamilyAttemptTimeout: 2_500 };

/**
 * Sends a request, and reads the beginning of the response. Redirects are not followed, and proxies from the environment are
 * not used. The host name is resolved once and its addresses are checked; the connection is made to one of them, with the
 * name for SNI, the certificate and Host. So the answer of DNS cannot change in between.
 * @throws {Error} only if `signal` was aborted
 */
export async function sendWebhook(request: WebhookRequest, options: SendOptions): Promise<WebhookAnswer> {
  const { allowed, signal, resolve = resolveHost, timeLimit = attemptMilliseconds } = options;
  const begunAt = performance.now();
  // Not AbortSignal.any: it leaves something with `signal`, which is as old as the process, for each attempt.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeLimit);
  signal?.addEventListener('abort', end, { once: true });
  const failed = (error: string): WebhookAnswer => ({
    statusCode: null,
    answer: null,
    error,
    latencyMilliseconds: Math.round(performance.now() - begunAt),
    retryAfter: null,
  });
  try {
    const refusal = refusalOfUrl(request.url, allowed);
    if (refusal !== null) return failed(`The URL ${refusal}.`);
    const url = new URL(request.url);
    signal?.throwIfAborted();
    const addresses = await findAddresses(url.hostname, allowed, resolve, ending.signal);
    ending.signal.throwIfAborted();
    if (addresses === null) return failed('The host has no public address.');
    const response = await post(url, request, addresses, ending.signal, options.ca);
    const answer = await readAnswer(response, ending.signal);
    return {
      statusCode: response.statusCode ?? null,
      answer,
      error: null,
      latencyMilliseconds: Math.round(performance.now() - begunAt),
      retryAfter: response.headers['retry-after'] ?? null,
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (ending.signal.aborted) return failed(`There was no answer within ${timeLimit / 1000} s.`);
    return failed(describeFailure(error));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Resolves when the head of the response has arrived. */
function post(
  url: URL,
  { headers, body }: WebhookRequest,
  addresses: readonly string[],
  signal: AbortSignal,
  ca: string | undefined,
): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      // A connection of its own, which no other developer's request can share.
      agent: false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: lookupIn(addresses),
      ...connectOptions,
      maxHeaderSize: maxHeaderBytes,
      signal,
      ...(ca !== undefined && { ca }),
    });
    outgoing.once('response', resolve);
    // A status of 101 ends the request without a response or an error, and `signal` then has no effect.
    outgoing.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new SwitchedProtocols());
    });
    outgoing.once('close', () => reject(new Error('The connection was closed')));
    // Stays after the response, because the connection may fail while the body is read.
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The receiver answered with the status 101 (RFC 9110 §15.2.2), for which it was not asked. */
class SwitchedProtocols extends Error {}

/** A look-up that hands out addresses which were checked before. An IP address in a URL is never looked up. */
const lookupIn =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all, family }, callback) => {
    const found = addresses
      .map((address) => ({ address, family: isIP(address) }))
      .filter((one) => (family === 4 || family === 6 ? one.family === family : true));
    const [first] = found;
    if (first === undefined) callback(new Error('The host has no address of this family.'), '', 0);
    else if (all === true) callback(null, found);
    else callback(null, first.address, first.family);
  };

const tlsAdvice = {
  trust: 'is not possible here, so use one from a public CA',
  clientCertificate: 'webhooks have none',
};

const connectionFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refused the connection.',
  ECONNRESET: 'The host closed the connection without an answer.',
  EPIPE: 'The host closed the connection without an answer.',
  ETIMEDOUT: 'The host did not accept a connection in time.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
};

/** Describes a failure to the developer, in words that name no address and nothing that the host sent. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'The request failed.';
  if (error instanceof SwitchedProtocols) return 'The host switched to another protocol.';
  const [code, ...others] = codesOf(error);
  const known = connectionFailures[code ?? ''] ?? connectionFailures[others[0] ?? ''];
  if (known !== undefined) return known;
  if (code?.startsWith('HPE_')) return 'The host did not answer with valid HTTP.';
  const tls = describeTlsFailure(error, tlsAdvice);
  return tls === null ? 'The request failed.' : `The host ${tls}.`;
}

/** The code of an error, and those of the errors of each address that was tried. */
function codesOf(error: Error): string[] {
  const causes = error instanceof AggregateError ? error.errors : [];
  return [error, ...causes].flatMap((one: unknown) =>
    one instanceof Error && 'code' in one && typeof one.code === 'string' ? [one.code] : [],
  );
}
