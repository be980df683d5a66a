import type { SecurityEvent } from '../generated/graphql.ts';
import type { EntryWords } from './entry-words.ts';
import { all, count, type Detail, duration, moment, names, numberOf, text, textOf } from './metadata.ts';

const releasers: Readonly<Record<string, string>> = {
  vendor: 'by you',
  customer: 'by the customer',
  idle: 'because it was not used',
};
const releaser: Detail = ({ by }) => releasers[textOf(by) ?? ''] ?? null;

const scopes: Readonly<Record<string, string>> = {
  hwid: 'with its devices',
  hwid_and_ip: 'with its devices and an address',
};
const scope: Detail = ({ scope: name }) => scopes[textOf(name) ?? ''] ?? null;

const bases: Readonly<Record<string, string>> = {
  from_expiry: 'from its expiry',
  from_now: 'from now',
};
const basis: Detail = ({ basis: name }) => bases[textOf(name) ?? ''] ?? null;

const firstUse: Detail = ({ activated, bound }) =>
  [activated === true && 'first use', bound === true && 'device bound'].filter(Boolean).join(', ') || null;

const clock: Detail = ({ stopClock }) => (stopClock === true ? 'its clock is stopped' : null);

const version: Detail = ({ clientVersion }) => {
  const sent = textOf(clientVersion);
  return sent === null ? null : `version ${sent}`;
};

const tiers: Detail = ({ from, to }) => {
  const [before, after] = [numberOf(from), numberOf(to)];
  return before === null || after === null ? null : `${before} to ${after}`;
};

const newName: Detail = ({ previousName, name }) => {
  const [before, after] = [textOf(previousName), textOf(name)];
  if (after === null) return before === null ? null : `“${before}” removed`;
  return before === null ? `“${after}”` : `“${before}” to “${after}”`;
};

/** What happens to licenses, their devices, bans and end users. */
export const licenseTexts = {
  ban_removed: { label: 'Ban removed', detail: text('value') },
  device_moved: { label: 'License moved to another device by its customer' },
  device_released: { label: 'Device released', detail: all(text('name'), releaser) },
  device_renamed: { label: 'Device renamed', detail: newName },
  hwid_reset: { label: 'Devices reset' },
  lease_issued: { label: 'Lease issued', detail: moment('expiresAt', 'until ') },
  lease_rolled_back: { label: 'Device came back with an older lease' },
  license_banned: { label: 'License banned', detail: scope },
  license_changed: { label: 'License changed', detail: names('changed') },
  license_deleted: { label: 'License deleted', detail: text('keyPrefix') },
  license_extended: { label: 'License extended', detail: duration('seconds', 'by ') },
  license_key_rotated: {
    label: 'Key rotated',
    detail: duration('overlapSeconds', 'the old one stays good for '),
  },
  license_reinstated: {
    label: 'License reinstated',
    detail: duration('keptSeconds', 'its term moved by '),
  },
  license_renewed: { label: 'License renewed', detail: all(duration('seconds', 'by '), basis) },
  license_suspended: { label: 'License suspended', detail: all(text('reason'), clock) },
  license_tier_changed: { label: 'Tier changed', detail: tiers },
  license_unbanned: {
    label: 'License unbanned',
    detail: ({ removedBans }) =>
      removedBans === 0 ? null : count('removedBans', 'ban lifted', 'bans lifted')({ removedBans }),
  },
  license_validated: {
    label: 'License validated',
    refused: 'Validation refused',
    detail: all(firstUse, version),
  },
  licenses_created: { label: 'Keys minted', detail: count('amount', 'key', 'keys') },
  licenses_extended: {
    label: 'Active licenses extended',
    detail: all(count('extended', 'license', 'licenses'), duration('seconds', 'by ')),
  },
  policy_applied: { label: 'Policy applied', detail: all(text('code'), names('changed')) },
  self_service_refused: { label: 'Self-service refused', detail: text('call') },
  session_refused: { label: 'Client session refused', detail: version },
  user_created: { label: 'User created' },
  user_deleted: { label: 'User deleted' },
  user_logged_in: { label: 'User signed in', refused: 'Sign-in of a user refused' },
  user_registered: { label: 'User registered', refused: 'Registration refused' },
  user_upgraded: { label: 'User upgraded', refused: 'Upgrade refused' },
} as const satisfies Partial<Record<SecurityEvent, EntryWords>>;
