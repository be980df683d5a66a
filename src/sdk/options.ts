import { decodeBase64 } from '../protocol/base64.ts';
import { ed25519KeyBytes } from '../protocol/constants.ts';
import { sessionInitRequest } from '../protocol/messages.ts';
import { textOf } from '../protocol/text.ts';
import { type ClientStore, emptyStore } from './store/client-store.ts';
import { createDefaultStore } from './store/default-store.ts';
import { createSafeStore, type SafeStore } from './store/safe-store.ts';

export interface ClientOptions {
  /** Base URL of the service, such as `https://license.example.com`. */
  readonly baseUrl: string;
  /** The application's id. */
  readonly appId: string;
  /** The application's Ed25519 public key: 32 bytes in base64. Responses are trusted only if this key verifies them. */
  readonly publicKeyB64: string;
  /** This program's version; must equal the application's version. */
  readonly version: string;
  /** What the user calls this device, 1 to 64 characters. People see it in a list of devices once the device is bound. */
  readonly deviceName?: string | undefined;
  /** The operating system of this device, for example, 1 to 32 characters. */
  readonly platform?: string | undefined;
  /**
   * Version of the protocol. Default 2. The client speaks no other: a service that does not answer in version 2 gives a
   * failure.
   */
  readonly protocol?: 1 | 2;
  /**
   * Timeout of a whole call in milliseconds, including what precedes the question. Default 10,000; with version 2 at most
   * 30,000, and a longer one counts as 30,000. Waiting for a slow store is extra with `leases`: at most a quarter of the timeout,
   * and at most 500 ms, for each of a few reads and writes. A signal does not end that.
   */
  readonly timeoutMs?: number;
  /** The fetch implementation to use. Default `globalThis.fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the current time in milliseconds since the Unix epoch; must not throw. Default `Date.now`. */
  readonly now?: () => number;
  /** Returns milliseconds of run time, which never decrease; must not throw. Default `performance.now`. */
  readonly runTime?: () => number;
  /**
   * Whether `validate` asks for leases, with version 2, and falls back to one if no answer can be had. Default false: a
   * program that has not decided what it does offline must not take a lease for an answer. Such a client keeps a timer for as long as the program runs.
   */
  readonly leases?: boolean;
  /** When this program was built, in milliseconds since the Unix epoch. A clock before that is known to be wrong. */
  readonly builtAt?: number;
  /**
   * What the client keeps between runs, with version 2. Default: files in the user's state folder in Node.js, and
   * `localStorage` in browsers; nothing for a user without a home folder. Null keeps nothing, so that no lease can be used.
   * Only one client at a time may use a store for an application: of two changes at once, one is lost.
   */
  readonly store?: ClientStore | null;
}

export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly publicKey: Uint8Array;
  readonly version: string;
  readonly deviceName: string | undefined;
  readonly platform: string | undefined;
  readonly protocol: 1 | 2;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly runTime: () => number;
  readonly leases: boolean;
  readonly builtAt: number;
  readonly store: SafeStore;
}

/** The limit of setTimeout, which fires immediately for longer delays. */
const maxTimeoutMs = 2 ** 31 - 1;
/** Reading a file takes milliseconds; a call waits no longer for a store. */
const storePatienceMs = 500;
/** A later answer of version 2 would be an old one that an attacker has held back. */
const maxDeadlineMs = 30_000;

/** @throws {TypeError} if an option is invalid; the message names it */
export function parseOptions(options: ClientOptions): Settings {
  const { timeoutMs = 10_000, now = Date.now, protocol = 2 } = options;
  const { runTime = () => performance.now(), leases = false, builtAt = 0 } = options;
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
  if (protocol !== 1 && protocol !== 2) throw new TypeError('protocol must be 1 or 2');
  if (typeof leases !== 'boolean') throw new TypeError('leases must be true or false');
  if (leases && protocol !== 2) throw new TypeError('leases need protocol 2');
  if (!Number.isFinite(builtAt)) throw new TypeError('builtAt must be milliseconds since the Unix epoch');
  if (typeof globalThis.crypto?.getRandomValues !== 'function') {
    throw new TypeError('This runtime has no Web Crypto (globalThis.crypto); use Node.js 20 or newer');
  }
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    appId: options.appId,
    publicKey,
    version: options.version,
    deviceName: parseLabel('deviceName', options.deviceName, 64),
    platform: parseLabel('platform', options.platform, 32),
    protocol,
    timeoutMs: protocol === 2 ? Math.min(timeoutMs, maxDeadlineMs) : timeoutMs,
    // Bound, because browsers reject a fetch that is called as another object's method.
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    now,
    runTime,
    leases,
    builtAt,
    store: createSafeStore(parseStore(options.store), Math.min(timeoutMs / 4, storePatienceMs)),
  };
}

/** The service would ignore a label that is too long: better to hear of it while developing. */
function parseLabel(name: string, value: string | undefined, max: number): string | undefined {
  if (value === undefined || textOf({ min: 1, max }).safeParse(value).success) return value;
  throw new TypeError(`${name} must be a string of 1 to ${max} characters`);
}

function parseStore(store: ClientStore | null | undefined): ClientStore {
  if (store === undefined) return createDefaultStore();
  if (store === null) return emptyStore;
  if (typeof store.read === 'function' && typeof store.write === 'function') return store;
  throw new TypeError('store must be null or have the functions read and write');
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
