export interface ManagementClientOptions {
  /** Base URL of the service, such as `https://license.example.com`. */
  readonly baseUrl: string;
  /**
   * An API key of the account, `service_live_…`. It grants access to the whole account, so use it only on servers. If
   * omitted in a browser, the session cookie authenticates.
   */
  readonly apiKey?: string | undefined;
  /** The fetch implementation to use. Default `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Additional header fields to send. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Timeout of a whole call in milliseconds, including retries and their pauses. Default 30,000. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Maximum retries of a failed call. Default 2. */
  readonly retries?: number | undefined;
}

export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly headers: Headers;
  readonly timeoutMilliseconds: number;
  readonly retries: number;
}

/** The limit of setTimeout, which fires immediately for longer delays. */
const maxTimeout = 2 ** 31 - 1;

/** @throws {TypeError} if an option is invalid; the message names the option but never contains a secret */
export function parseOptions(options: ManagementClientOptions): Settings {
  const { apiKey, retries = 2, timeoutMilliseconds = 30_000 } = options;
  // Checked here because fetch's error for an invalid header field would contain the key.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key of the service: service_live_ followed by a token');
  }
  if (!Number.isInteger(retries) || retries < 0) {
    throw new TypeError('retries must be an integer of at least 0');
  }
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    apiKey,
    // Bound, because browsers reject a fetch that is called as another object's method.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    headers: parseHeaders(options.headers ?? {}),
    timeoutMilliseconds: parseTimeout('timeoutMilliseconds', timeoutMilliseconds),
    retries,
  };
}

/** @throws {TypeError} if setTimeout cannot wait that long; the message names the option */
export function parseTimeout(name: string, milliseconds: number): number {
  if (Number.isFinite(milliseconds) && milliseconds > 0 && milliseconds <= maxTimeout) return milliseconds;
  throw new TypeError(`${name} must be a number greater than 0 and at most ${maxTimeout}`);
}

function parseBaseUrl(text: string): string {
  const wrong = 'baseUrl must be an http or https URL without credentials, query or fragment';
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
      throw new TypeError(`headers must be valid HTTP header fields; ${JSON.stringify(name)} is not`);
    }
  }
  return headers;
}
