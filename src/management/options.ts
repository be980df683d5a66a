export interface ManagementClientOptions {
  /** Where the service is, such as `https://license.example.com`. */
  readonly baseUrl: string;
  /**
   * An API key of the account, `service_live_…`. It is the whole account's: keep it on a server. Left out in a browser,
   * the session cookie counts instead.
   */
  readonly apiKey?: string | undefined;
  /** What to send requests with. Default `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Header fields to send beside the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds that a whole call may take, repetitions and the pauses before them included. Default 30,000. */
  readonly timeoutMilliseconds?: number | undefined;
  /** How often a failed query is repeated at most; mutations never are. Default 2. */
  readonly retries?: number | undefined;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly headers: Headers;
  readonly timeoutMilliseconds: number;
  readonly retries: number;
}

/** setTimeout fires at once beyond this. */
const longestTimeout = 2 ** 31 - 1;

/** @throws {TypeError} naming the option that is wrong, and never saying a secret one */
export function parseOptions(options: ManagementClientOptions): Settings {
  const { apiKey, retries = 2, timeoutMilliseconds = 30_000 } = options;
  // fetch would say a header field that it refuses, the key in it.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key as the service gave it: service_live_ and a token');
  }
  if (!Number.isInteger(retries) || retries < 0) {
    throw new TypeError('retries must be a whole number from 0');
  }
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKey,
    // Bound, as browsers refuse a fetch that is called on another object.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    headers: parseHeaders(options.headers ?? {}),
    timeoutMilliseconds: parseTimeout('timeoutMilliseconds', timeoutMilliseconds),
    retries,
  };
}

/** @throws {TypeError} naming the option, for what setTimeout cannot wait */
export function parseTimeout(name: string, milliseconds: number): number {
  if (Number.isFinite(milliseconds) && milliseconds > 0 && milliseconds <= longestTimeout)
    return milliseconds;
  throw new TypeError(`${name} must be a number above 0 and up to ${longestTimeout}`);
}

function parseBaseUrl(text: string): string {
  const wrong = 'baseUrl must be an http or https address without credentials, query or fragment';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError(wrong);
  }
  const bare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!bare || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw new TypeError(wrong);
  return url.href.replace(/\/+$/, '');
}

function parseHeaders(fields: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    try {
      headers.set(name, value);
    } catch {
      throw new TypeError(`headers must be header fields of HTTP; ${JSON.stringify(name)} is none`);
    }
  }
  return headers;
}
