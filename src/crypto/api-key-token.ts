import { randomBytes } from 'node:crypto';
import { type Sha256, sha256 } from './hash.ts';

const tokenPrefix = 'service_live_';
const tokenPattern = /^service_live_[A-Za-z0-9_-]{43}$/;

/** A fresh API key: 256 random bits behind the interface's prefix. The token is shown once; the rest is kept. */
export function createApiKeyToken(): { token: string; keyPrefix: string; keyHash: Sha256 } {
  const token = tokenPrefix + randomBytes(32).toString('base64url');
  return { token, keyPrefix: token.slice(0, tokenPrefix.length + 4), keyHash: sha256(token) };
}

/** The hash to look a bearer token up by; null for text that no API key can be. */
export function apiKeyTokenHash(token: string): Sha256 | null {
  return tokenPattern.test(token) ? sha256(token) : null;
}
