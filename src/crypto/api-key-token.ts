import { randomBytes } from 'node:crypto';
import { type Sha256, sha256 } from './hash.ts';

const tokenPrefix = 'service_live_';
const tokenPattern = /^service_live_[A-Za-z0-9_-]{43}$/;

/** Generates an API key: `service_live_` and 256 random bits. The token is shown once; only its prefix and hash are stored. */
export function createApiKeyToken(): { token: string; keyPrefix: string; keyHash: Sha256 } {
  const token = tokenPrefix + randomBytes(32).toString('base64url');
  return { token, keyPrefix: token.slice(0, tokenPrefix.length + 4), keyHash: sha256(token) };
}

/** The hash by which a bearer token is looked up; null if the text is not a well-formed API key. */
export function apiKeyTokenHash(token: string): Sha256 | null {
  return tokenPattern.test(token) ? sha256(token) : null;
}
