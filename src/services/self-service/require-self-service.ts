import { Refusal } from '../end-user/client-auth.ts';
import { refusalMembers } from '../license/answer-members.ts';
import { decide, type LicenseEffects } from '../license/decide.ts';
import type { LockedLicense } from '../license/lock.ts';
import type { Noted } from './answer.ts';
import type { Customer } from './owner.ts';

/** A license whose devices its customer may change. */
export interface OwnLicense {
  readonly license: LockedLicense;
  /** What a use of it changes, besides devices. */
  readonly activate: LicenseEffects['activate'];
}

/**
 * Judges a license without its devices: the one that asks need not be bound. Then whether it allows its customers to change
 * them, in this way.
 * @throws {Refusal} with the verdict, or SELF_SERVICE_OFF
 */
export function requireSelfService(
  license: LockedLicense | null,
  { request: { application }, client, owner }: Customer,
  now: Date,
  noted: Noted,
): OwnLicense {
  if (license?.applicationId === application.id) noted.licenseId = license.id;
  const decision = decide({ application, client, license, hwid: null, now });
  if (decision.code !== 'OK') throw new Refusal(decision.code, refusalMembers(decision));
  if (license === null) throw new TypeError('The verdict accepted a license that does not exist');
  if (!application.hwidLockEnabled || !allows(license, owner)) throw new Refusal('SELF_SERVICE_OFF');
  return { license, activate: decision.effects.activate };
}

function allows({ selfService, ownerUserId }: LockedLicense, owner: Customer['owner']): boolean {
  switch (selfService) {
    case 'off':
      return false;
    case 'key':
      return true;
    case 'account':
      return 'userId' in owner && owner.userId === ownerUserId;
  }
}
