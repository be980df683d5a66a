import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase64Url, encodeBase64Url } from '../base64.ts';
import { concatBytes, requireLength } from '../bytes.ts';
import { deviceHashBytes, deviceNonceBytes } from './lease.ts';
import { uuidBytes } from './uuid-bytes.ts';

// A device without a network asks for a lease with a text of 91 characters, which a person carries to the vendor.

const prefix = 'LKQ2.';
const uuidLength = 16;
const requestBytes = uuidLength + deviceHashBytes + deviceNonceBytes;

/** What a device without a network shows to get a lease. */
export interface DeviceRequest {
  readonly appId: string;
  /** See `deviceHash`. */
  readonly device: string;
  /** 16 random bytes in base64url, fresh for every request: only a lease with this nonce answers it. */
  readonly nonce: string;
}

/**
 * Composes the text of a device request: `LKQ2.` and base64url of application, device and nonce.
 * @throws {RangeError} if a part has another length
 */
export function deviceRequestText({ appId, device, nonce }: DeviceRequest): string {
  const deviceBytes = decodeBase64Url(device) ?? new Uint8Array();
  const nonceBytes = decodeBase64Url(nonce) ?? new Uint8Array();
  requireLength(deviceBytes, deviceHashBytes, 'The device hash');
  requireLength(nonceBytes, deviceNonceBytes, 'The nonce');
  return prefix + encodeBase64Url(concatBytes(uuidBytes(appId), deviceBytes, nonceBytes));
}

/** Reads the text of a device request; null unless it is exactly what {@link deviceRequestText} composes. */
export function readDeviceRequest(text: string): DeviceRequest | null {
  if (!text.startsWith(prefix) || text.length > 100) return null;
  const bytes = decodeBase64Url(text.slice(prefix.length));
  if (bytes?.length !== requestBytes) return null;
  return {
    appId: uuidText(bytes.subarray(0, uuidLength)),
    device: encodeBase64Url(bytes.subarray(uuidLength, -deviceNonceBytes)),
    nonce: encodeBase64Url(bytes.subarray(-deviceNonceBytes)),
  };
}

function uuidText(bytes: Uint8Array): string {
  const hex = bytesToHex(bytes);
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return groups.join('-');
}
