import { encodeBase64Url } from './base64.ts';
import { sha256 } from './hash.ts';

/** A strong validator of content, with its quotation marks (RFC 9110 §8.8.3): the same on every instance. */
export const strongEtag = (content: string | Uint8Array): string => `"${encodeBase64Url(sha256(content))}"`;
