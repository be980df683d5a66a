import type { CallName } from '../../../protocol/v2/messages.ts';

/** A change to the good request of a call, and whether SPEC §5 allows the result. */
export interface RequestShape {
  readonly why: string;
  readonly change: object;
  readonly valid: boolean;
}

/** The members of requests that differ from the good request of a call. */
export function requestShapes(call: CallName): RequestShape[] {
  return [
    accepted('an unknown member', { later: { is: 'ignored' } }),
    ...devices(call),
    ...labels(call),
    ...byCall[call](),
  ];
}

const accepted = (why: string, change: object): RequestShape => ({ why, change, valid: true });
const refused = (why: string, change: object): RequestShape => ({ why, change, valid: false });

function devices(call: CallName): RequestShape[] {
  const without = call === 'lease' || call === 'devices.move' ? refused : accepted;
  return [
    without('no hwid', call === 'validate' ? { hwid: undefined, lease: undefined } : { hwid: undefined }),
    accepted('a hwid of 256 characters', { hwid: 'h'.repeat(256) }),
    refused('a hwid of 257 characters', { hwid: 'h'.repeat(257) }),
    refused('an empty hwid', { hwid: '' }),
    refused('hwid null', { hwid: null }),
  ];
}

/** Malformed labels count as not sent. Version 1 has the same. */
export const labelCases = [
  { why: 'a name and a platform', change: { deviceName: 'n'.repeat(64), platform: 'p'.repeat(32) } },
  { why: 'neither name nor platform', change: { deviceName: undefined, platform: undefined } },
  {
    why: 'a name and a platform that are too long, which are ignored',
    change: { deviceName: 'n'.repeat(65), platform: 'p'.repeat(33) },
  },
  {
    why: 'a name and a platform of other types, which are ignored',
    change: { deviceName: { is: 1 }, platform: null },
  },
] as const;

/** A list and a release bind no device, so they have no labels. */
function labels(call: CallName): RequestShape[] {
  if (call === 'devices.list' || call === 'devices.release') return [];
  return labelCases.map(({ why, change }) => accepted(why, change));
}

/** A request names a license key, or an account, and not both. */
function owners(named: 'key' | 'account'): RequestShape[] {
  const key = { licenseKey: 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8' };
  const account = { username: 'j\u00f6rg x', password: 'p' };
  const none = { licenseKey: undefined, username: undefined, password: undefined };
  return [
    accepted('a license key and no account', { ...none, ...key }),
    accepted('an account and no license key', { ...none, ...account }),
    refused('neither license key nor account', none),
    refused('a license key and an account', { ...key, ...account }),
    refused('a username without a password', { ...none, username: 'ada' }),
    refused('a password without a username', { ...none, password: 'p' }),
    refused('a license key with a username', { ...none, ...key, username: 'ada' }),
    ...(named === 'key'
      ? licenseKeys
      : [
          refused('a password of 1,025 characters', { password: 'p'.repeat(1025) }),
          refused('an empty username', { username: '' }),
        ]),
  ];
}

function ids(name: string, isRequired: boolean): RequestShape[] {
  return [
    (isRequired ? refused : accepted)(`no ${name}`, { [name]: undefined }),
    refused(`${name} in upper case`, { [name]: '01890A5D-E4F5-7C6D-A071-8293A4B5C6D7' }),
    refused(`${name} that is no UUID`, { [name]: 'laptop' }),
    refused(`${name} null`, { [name]: null }),
  ];
}

const licenseKeys: readonly RequestShape[] = [
  accepted('a license key of 256 characters', { licenseKey: 'K'.repeat(256) }),
  refused('a license key of 257 characters', { licenseKey: 'K'.repeat(257) }),
  accepted('a license key of 256 UTF-16 units', { licenseKey: '\u{1f511}'.repeat(128) }),
  refused('a license key of 258 UTF-16 units', { licenseKey: '\u{1f511}'.repeat(129) }),
  refused('an empty license key', { licenseKey: '' }),
  refused('license key null', { licenseKey: null }),
  refused('the license key as a number', { licenseKey: 1 }),
];

const usernames: readonly RequestShape[] = [
  refused('no username', { username: undefined }),
  refused('username null', { username: null }),
  refused('an empty username', { username: '' }),
  accepted('a username of 64 characters', { username: 'u'.repeat(64) }),
  refused('a username of 65 characters', { username: 'u'.repeat(65) }),
];

const noLicenseKey = { licenseKey: undefined };
const foreignName = { username: 'j\u00f6rg x' };

const emailOf = (length: number): string => '@example.com'.padStart(length, 'a');

const byCall: { readonly [Call in CallName]: () => readonly RequestShape[] } = {
  validate: () => [
    ...licenseKeys,
    refused('no license key', noLicenseKey),
    accepted('no lease', { lease: undefined }),
    accepted('lease false', { lease: false }),
    accepted('lease false and no hwid', { lease: false, hwid: undefined }),
    refused('a lease and no hwid', { hwid: undefined }),
    refused('lease null', { lease: null }),
    refused('lease as a text', { lease: 'true' }),
  ],
  lease: () => [
    ...licenseKeys,
    refused('no license key', noLicenseKey),
    accepted('no seq', { seq: undefined }),
    accepted('seq 0', { seq: 0 }),
    refused('a negative seq', { seq: -1 }),
    refused('seq as a text', { seq: '4' }),
    refused('seq null', { seq: null }),
  ],
  register: () => [
    ...licenseKeys,
    ...usernames,
    accepted('no license key', noLicenseKey),
    accepted('no email', { email: undefined }),
    refused('no password', { password: undefined }),
    accepted('a username of 3 characters', { username: 'a_1' }),
    refused('a username of 2 characters', { username: 'ab' }),
    refused('a username with a letter that is not ASCII, and a space', foreignName),
    refused('a username with a line break at its end', { username: 'ada\n' }),
    accepted('a password of 8 characters', { password: '12345678' }),
    refused('a password of 7 characters', { password: '1234567' }),
    accepted('a password of 128 characters', { password: 'p'.repeat(128) }),
    refused('a password of 129 characters', { password: 'p'.repeat(129) }),
    refused('the password as a number', { password: 12345678 }),
    refused('an email without a domain', { email: 'ada' }),
    accepted('an email with an apostrophe', { email: "o'neil@example.com" }),
    refused('an email with a letter that is not ASCII', { email: '\u00e4@example.com' }),
    refused('an email that begins with a dot', { email: '.ada@example.com' }),
    refused('an email whose top level has one letter', { email: 'ada@example.c' }),
    refused('an email with a line break at its end', { email: 'ada@example.com\n' }),
    accepted('an email of 254 characters', { email: emailOf(254) }),
    refused('an email of 255 characters', { email: emailOf(255) }),
    refused('email null', { email: null }),
  ],
  login: () => [
    ...usernames,
    accepted('a username that no account can have', foreignName),
    refused('no password', { password: undefined }),
    refused('an empty password', { password: '' }),
    accepted('a password of 1 character', { password: 'p' }),
    accepted('a password of 1,024 characters', { password: 'p'.repeat(1024) }),
    refused('a password of 1,025 characters', { password: 'p'.repeat(1025) }),
  ],
  upgrade: () => [
    ...licenseKeys,
    ...usernames,
    refused('no license key', noLicenseKey),
    accepted('a username that no account can have', foreignName),
    accepted('a password, which is ignored like any unknown member', { password: 1 }),
  ],
  'devices.list': () => [...owners('key'), ...ids('after', false)],
  'devices.release': () => [...owners('account'), ...ids('deviceId', true)],
  'devices.move': () => [...owners('key'), ...ids('releaseDeviceId', false)],
};
