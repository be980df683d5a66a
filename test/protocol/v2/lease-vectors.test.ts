import { describe, expect, it } from 'vitest';
import { deviceHash } from '../../../src/protocol/v2/device-hash.ts';
import { deviceRequestText, readDeviceRequest } from '../../../src/protocol/v2/device-request.ts';
import { readLease } from '../../../src/protocol/v2/lease.ts';
import { readRevocations, revokes, shortLicenseId } from '../../../src/protocol/v2/revocations.ts';
import { sealedV2Vectors } from './sealed-vectors.ts';

const { application, leases, revocations, deviceRequests } = sealedV2Vectors;
const { appId, publicKeyHex: publicKey } = application;

describe('a lease', () => {
  const { hwid, dev, time } = leases.reader;
  const reader = { appId, publicKey, device: dev, time };

  it('is read for the device of the vectors', () => {
    expect(deviceHash(appId, hwid)).toBe(dev);
  });
  it.each(leases.accept)('is accepted: $why', ({ lease, json, why: _why, ...known }) => {
    const result = readLease(lease, { ...reader, ...known });
    const { later: _later, ...claims } = JSON.parse(json);
    expect(result).toEqual({ ok: true, claims });
  });
  it.each(leases.reject)(
    'is refused by its $failed: $why',
    ({ lease, failed, publicKeyHex = publicKey, ...known }) => {
      const result = readLease(lease, { ...reader, ...known, publicKey: publicKeyHex });
      expect(result).toEqual({ ok: false, failed });
    },
  );
});

describe('a revocation list', () => {
  const { time, licenseId, shortLicenseId: shortId } = revocations.reader;
  const reader = { appId, publicKey, time };

  it('names the license of the vectors', () => {
    expect(shortLicenseId(licenseId)).toBe(shortId);
  });
  it.each(revocations.accept)('is accepted: $why', ({ list, json, leaseRev, isRevoked, seenRev }) => {
    const result = readRevocations(list, { ...reader, seenRev });
    if (!result.ok) expect.fail(result.failed);
    const { later: _later, ...claims } = JSON.parse(json);
    expect(result.claims).toEqual(claims);
    expect(revokes(result.claims, { sub: licenseId, rev: leaseRev })).toBe(isRevoked);
  });
  it.each(revocations.reject)('is refused by its $failed: $why', ({ list, failed, ...known }) => {
    expect(readRevocations(list, { ...reader, ...known })).toEqual({ ok: false, failed });
  });
});

describe('a device request', () => {
  it.each(deviceRequests.accept)('is written and read: $why', ({ hwid, dev, nonce, text }) => {
    expect(deviceHash(appId, hwid)).toBe(dev);
    expect(deviceRequestText({ appId, device: dev, nonce })).toBe(text);
    expect(readDeviceRequest(text)).toEqual({ appId, device: dev, nonce });
  });
  it.each(deviceRequests.reject)('is refused: $why', ({ text }) => {
    expect(readDeviceRequest(text)).toBeNull();
  });
});
