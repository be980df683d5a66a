import { decodeBase64 } from '../protocol/base64.ts';
import { ed25519KeyBytes } from '../protocol/constants.ts';
import { sessionInitRequest } from '../protocol/messages.ts';

export interface ClientOptions {
  /** `{base_url}` of the service, such as `https://license.example.com`. */
  readonly baseUrl: string;
  /** The application's id. */
  readonly appId: string;
  /** The application's Ed25519 public key: 32 bytes in base64. All trust in an answer comes from it. */
  readonly publicKeyB64: string;
  /** This program's version, exactly as the application has it. */
  readonly version: string;
  /** Milliseconds that a whole call may take, a handshake in it included. Default 10,000. */
  readonly timeoutMs?: number;
  /** What to send requests with. Default `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the Unix epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly publicKey: Uint8Array;
  readonly version: string;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

/** setTimeout fires at once beyond this. */
const longestTimeoutMs = 2 ** 31 - 1;

/** @throws {TypeError} naming the option that is wrong: a mistake in the program, not a failure of a call */
export function parseOptions(options: ClientOptions): Settings {
  const { timeoutMs = 10_000, now = Date.now } = options;
  const { appId, clientVersion } = sessionInitRequest.shape;
  if (!appId.safeParse(options.appId).success) throw new TypeError('appId must be a UUID in lower case');
  if (!clientVersion.safeParse(options.version).success) {
    throw new TypeError('version must be a text of 1 to 64 characters');
  }
  const publicKey = decodeBase64(String(options.publicKeyB64));
  if (publicKey?.length !== ed25519KeyBytes) {
    throw new TypeError(
      'publicKeyB64 must be the base64 of 32 bytes, as the service gave it for the application',
    );
  }
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > longestTimeoutMs) {
    throw new TypeError(`timeoutMs must be a number above 0 and up to ${longestTimeoutMs}`);
  }
  if (typeof globalThis.crypto?.getRandomValues !== 'function') {
    throw new TypeError('This runtime has no Web Crypto (globalThis.crypto); use Node.js 20 or newer');
  }
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    appId: options.appId,
    publicKey,
    version: options.version,
    timeoutMs,
    // Bound, as browsers refuse a fetch that is called on another object.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    now,
  };
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
