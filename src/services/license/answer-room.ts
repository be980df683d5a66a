import type { JsonObject } from '../../protocol/canonical-json.ts';

// A sealed answer has at most 65,536 bytes, in version 1 as base64. An answer of version 2 may also have a lease, which has
// the entitlements once more, as base64, and at most 32,768 characters. The other members of an answer take 9 kB at most.

/** How long entitlements, and the client's part of metadata, may each be: bytes of JSON. Both then fit into every answer. */
export const maxPartBytes = 16_384;

/** How long both may be together in an answer. Licenses from before the limit may have more of them. */
const maxBytesTogether = 36_000;

/** The length of a value as JSON. Characters would not do: one may take four bytes, or six as an escape sequence. */
const bytesOf = (object: JsonObject): number => Buffer.byteLength(JSON.stringify(object));

export const isPartShort = (object: JsonObject): boolean => bytesOf(object) <= maxPartBytes;

/** Whether a lease for these entitlements fits into an answer, beside the entitlements and metadata of it. */
export const leaseFits = ({ entitlements }: { readonly entitlements: JsonObject }): boolean =>
  isPartShort(entitlements);

interface Parts {
  readonly entitlements: JsonObject;
  readonly clientMetadata: JsonObject;
}

/**
 * The entitlements and metadata that fit into an answer: all, unless the license is from before the limit. A program without
 * its metadata is better off than one without a verdict.
 */
export function partsThatFit({ entitlements, clientMetadata }: Parts): Parts {
  // Most licenses have neither, and this is on the hot path.
  if (!hasMembers(entitlements) && !hasMembers(clientMetadata)) return { entitlements, clientMetadata };
  const bytes = bytesOf(entitlements);
  if (bytes + bytesOf(clientMetadata) <= maxBytesTogether) return { entitlements, clientMetadata };
  return { entitlements: bytes <= maxBytesTogether ? entitlements : {}, clientMetadata: {} };
}

export function hasMembers(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}
