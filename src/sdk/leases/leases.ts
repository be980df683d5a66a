import { encodeBase64Url } from '../../protocol/base64.ts';
import { randomBytes } from '../../protocol/bytes.ts';
import { validateMembers } from '../../protocol/messages.ts';
import { deviceHash } from '../../protocol/v2/device-hash.ts';
import { deviceRequestText } from '../../protocol/v2/device-request.ts';
import { deviceNonceBytes } from '../../protocol/v2/lease.ts';
import type { Failure } from '../failure.ts';
import type { Settings } from '../options.ts';
import type { ValidVerdict } from '../verdict.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { LeaseMemory } from './lease-memory.ts';
import { leaseFailure, leaseVerdict } from './lease-verdict.ts';

/** The license and device of a lease. */
export interface LeaseOf {
  /** The key that the program validates. An imported lease is stored under it; no check compares it with the lease. */
  readonly licenseKey: string;
  /** Identifier of this device, 1 to 256 characters. */
  readonly hwid: string;
}

/** The part of leases that needs no network. */
export interface OfflineLeases {
  /**
   * Composes the text, 91 characters, that a person carries from a device without a network to the vendor. It is stored,
   * and the lease that answers it is accepted once.
   * @throws {TypeError} if `hwid` is not 1 to 256 characters
   * @throws {Error} if the request could not be stored, since no lease could answer it then
   */
  deviceRequest(hwid: string): Promise<string>;
  /**
   * Stores the lease that the vendor has issued for a device request. White space in it is ignored. A lease that could not
   * be stored is a failure, and can be imported again. Never rejects.
   */
  importLease(lease: string, of: LeaseOf): Promise<ValidVerdict | Failure>;
  /** Validates a license by its lease alone, without asking the service. Never rejects. */
  check(of: LeaseOf): Promise<ValidVerdict | Failure>;
}

interface Parts {
  readonly settings: Pick<Settings, 'appId'>;
  readonly keeper: LeaseKeeper;
  readonly memory: LeaseMemory;
}

export function createOfflineLeases({ settings: { appId }, keeper, memory }: Parts): OfflineLeases {
  const subjectOf = ({ licenseKey, hwid }: Partial<LeaseOf>) =>
    keeper.subjectOf(textOf(licenseKey), textOf(hwid));
  return {
    async deviceRequest(hwid) {
      if (!validateMembers.shape.hwid.unwrap().safeParse(hwid).success) {
        throw new TypeError('hwid must be a string of 1 to 256 characters');
      }
      const nonce = encodeBase64Url(randomBytes(deviceNonceBytes));
      const isStored = await memory.change<boolean>((record) => ({
        record: { ...record, nonces: [...record.nonces, nonce] },
        result: true,
        ifNotStored: false,
      }));
      if (!isStored)
        throw new Error('The store has not taken the device request, so no lease could answer it');
      return deviceRequestText({ appId, device: deviceHash(appId, hwid), nonce });
    },
    async importLease(lease, of) {
      const judged = await keeper.importLease(subjectOf(of ?? {}), textOf(lease).replaceAll(/\s/g, ''));
      return typeof judged === 'string' ? leaseFailure(judged) : leaseVerdict(judged);
    },
    async check(of) {
      const judged = await keeper.judge(subjectOf(of ?? {}));
      return typeof judged === 'string' ? leaseFailure(judged) : leaseVerdict(judged);
    },
  };
}

/** JavaScript callers can pass anything, also an object that cannot become a text. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
