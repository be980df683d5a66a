import { decodeBase64 } from '../protocol/base64.ts';
import { ed25519KeyBytes } from '../protocol/constants.ts';
import { sessionInitRequest } from '../protocol/messages.ts';

export interface ClientOptions {
  /** Base URL of the service, such as `https://license.example.com`. */
  readonly baseUrl: string;
  /** The application's id. */
  readonly appId: string;
  /** The application's Ed25519 public key: 32 bytes in base64. Responses are trusted only if this key verifies them. */
  readonly publicKeyB64: string;
  /** This program's version; must equal the application's version. */
  readonly version: string;
  /** Timeout of a whole call in milliseconds, including a handshake. Default 10,000. */
  readonly timeoutMs?: number;
  /** The fetch implementation to use. Default `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the current time in milliseconds since the Unix epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly publicKey: Uint8Array;
  readonly version: string;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

/** The limit of setTimeout, which fires immediately for longer delays. */
const maxTimeoutMs = 2 ** 31 - 1;

/** @throws {TypeError} if an option is invalid; the message names it */
export function parseOptions(options: ClientOptions): Settings {
  const { timeoutMs = 10_000, now = Date.now } = options;
  const { appId, clientVersion } = sessionInitRequest.shape;
  if (!appId.safeParse(options.appId).success) throw new TypeError('appId must be a UUID in lower case');
  if (!clientVersion.safeParse(options.version).success) {
    throw new TypeError('version must be a string of 1 to 64 characters');
  }
  const publicKey = decodeBase64(String(options.publicKeyB64));
  if (publicKey?.length !== ed25519KeyBytes) {
    throw new TypeError("publicKeyB64 must be the application's public key: the base64 of 32 bytes");
  }
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > maxTimeoutMs) {
    throw new TypeError(`timeoutMs must be a number greater than 0 and at most ${maxTimeoutMs}`);
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
    // Bound, because browsers reject a fetch that is called as another object's method.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    now,
  };
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
