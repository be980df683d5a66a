import {
  endOf,
  type Facts,
  type LicenseFacts,
  placeOfAsking,
  type RuleName,
  type RuleOutcome,
} from '../license/decide.ts';
import { activeDevices } from '../license/license-devices.ts';

/** The facts of a question, and the address that it is about. */
export interface Explained {
  readonly facts: Facts;
  readonly ip: string | null;
}

/** Says why a rule has this outcome, in a sentence for the developer. */
export function because(rule: RuleName, outcome: RuleOutcome, explained: Explained): string {
  const { facts, ip } = explained;
  const { application, client, hwid } = facts;
  const isAsked = outcome !== 'not_asked';
  const isRefused = isAsked && outcome !== 'pass';
  switch (rule) {
    case 'application_status':
      return `The application is ${application.status}.`;
    case 'application_version':
      if (!isAsked) return 'No version is given.';
      return isRefused
        ? `The client has version ${client?.version}, the application ${application.version}.`
        : `The client has the application's version, ${application.version}.`;
    case 'protocol_version':
      if (!isAsked) return 'No version of the client protocol is given.';
      return isRefused
        ? 'The application accepts only version 2 of the client protocol.'
        : `The application accepts version ${client?.protocol} of the client protocol.`;
    case 'ip_ban':
      if (!isAsked) return 'No address is given.';
      return `The address ${ip} is ${isRefused ? '' : 'not '}banned.`;
    case 'hwid_ban':
      if (!isAsked) return 'No HWID is given.';
      return `The HWID ${hwid} is ${isRefused ? '' : 'not '}banned.`;
    case 'license_key':
      return isRefused ? 'No license has this key, or the key was replaced.' : 'The license exists.';
    case 'license_application':
      return `The license belongs to ${isRefused ? 'another' : 'this'} application.`;
    case 'license_ban':
      return `The license is ${isRefused ? '' : 'not '}banned.`;
    case 'suspension':
      return becauseOfSuspension(facts);
    case 'expiry':
      return becauseOfTerm(facts, isRefused);
    case 'device_release':
    case 'device_limit':
      return becauseOfDevice(rule, outcome, facts);
  }
}

const licenseOf = ({ license }: Facts): LicenseFacts | null =>
  license === null || license === 'not-asked' ? null : license;

function becauseOfSuspension(facts: Facts): string {
  const suspendedAt = licenseOf(facts)?.suspendedAt ?? null;
  if (suspendedAt === null) return 'The license is not suspended.';
  return `The license has been suspended since ${suspendedAt.toISOString()}.`;
}

function becauseOfTerm(facts: Facts, isRefused: boolean): string {
  const license = licenseOf(facts);
  if (license === null || license.status === 'unused') return 'The term begins with the first use.';
  const { expiresAt, graceSeconds } = license;
  const end = endOf(license);
  if (expiresAt === null || end === null) return 'The license does not expire.';
  if (isRefused) {
    const grace = graceSeconds > 0 ? `, and its grace at ${end.toISOString()}` : '';
    return `The license expired at ${expiresAt.toISOString()}${grace}.`;
  }
  if (expiresAt > facts.now) return `The license expires at ${expiresAt.toISOString()}.`;
  return `The license expired at ${expiresAt.toISOString()}; its grace lasts until ${end.toISOString()}.`;
}

function becauseOfDevice(
  rule: 'device_release' | 'device_limit',
  outcome: RuleOutcome,
  facts: Facts,
): string {
  const license = licenseOf(facts);
  if (!facts.application.hwidLockEnabled) return 'The application does not bind licenses to devices.';
  if (license === null || outcome === 'not_asked') return 'No HWID is given.';
  const place = placeOfAsking(facts, license);
  if (place?.kind === 'released') {
    return `The device was released at ${place.at.toISOString()}. It returns by a move, or, if self-service is off, once there is room.`;
  }
  if (rule === 'device_release') return 'The device was not released, or may return.';
  const places = `${activeDevices(license).length} of ${license.deviceLimit} devices are bound`;
  if (place?.kind === 'bound' || place?.kind === 'identified') return 'The device is bound.';
  if (place?.kind !== 'new') return `${places}, and this one is not among them.`;
  const idle = place.instead.length;
  return idle === 0 ? `${places}.` : `${places}, of which ${idle} idle ones are released for this one.`;
}
