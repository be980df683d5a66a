import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId, now } from '../exchange.ts';
import { lease } from './lease.ts';

export const callNames = [
  'validate',
  'lease',
  'register',
  'login',
  'upgrade',
  'devices.list',
  'devices.release',
  'devices.move',
] as const;

const licenseKey = 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8';
const hwid = 'device-1';
const username = 'ada.lovelace-1';
const password = 'correct horse battery';
/** Two devices of the license; the first is the one that asks. */
export const deviceIds = [
  '01890a5d-e4f5-7c6d-a071-8293a4b5c6d7',
  '01890a5d-f506-7d7e-b182-93a4b5c6d7e8',
] as const;

const members = {
  validate: { licenseKey, hwid, lease: true },
  lease: { licenseKey, hwid, seq: 4 },
  register: { username, password, email: 'ada@example.com', licenseKey, hwid },
  login: { username, password, hwid },
  upgrade: { username, licenseKey: 'M4TRE-8ZQWX-5HJKN-C9VBD-3PLGF', hwid },
  'devices.list': { licenseKey, hwid, after: deviceIds[0] },
  'devices.release': { username, password, deviceId: deviceIds[1], hwid },
  'devices.move': {
    licenseKey,
    releaseDeviceId: deviceIds[1],
    hwid,
    deviceName: "Ada's laptop",
    platform: 'Linux',
  },
} as const satisfies Record<CallName, object>;

/** The members of a request of this call, with all optional ones. */
export const goodRequest = (call: CallName) => ({
  v: 2,
  call,
  app: appId,
  version: '1.0.0',
  time: now,
  ...members[call],
});

export const licenseId = '01890a5d-c2d3-7a4b-8e5f-60718293a4b5';
const license = { status: 'active', expiresAt: '2026-10-09T08:53:20.000Z', subscriptionTier: 2 };

/** Members of a granted register and login. The token is made up, but has the length of the service's tokens. */
export const signedIn = {
  sessionToken: 'dG9rZW4gb2YgdGhlIHRlc3QgdmVjdG9ycyBvbmx5ISE',
  expiresAt: '2025-10-16T08:53:20.000Z',
  user: {
    id: '01890a5d-b1c2-7f3a-9d4e-5f60718293a4',
    username,
    email: 'ada@example.com',
    applicationId: appId,
  },
  license: { id: licenseId, ...license },
  session: { ip: '203.0.113.7', hwid },
};

/** When the next move is possible, and how many are left. */
const allowance = { nextMoveAt: '2025-10-10T08:53:20.000Z', movesLeft: 2 };

/** What an answer lists. */
export const devices = [
  {
    id: deviceIds[0],
    name: "Ada's laptop",
    platform: 'Linux',
    firstSeenAt: '2025-10-01T08:53:20.000Z',
    lastSeenAt: '2025-10-09T08:53:00.000Z',
    current: true,
  },
  {
    id: deviceIds[1],
    name: null,
    platform: null,
    firstSeenAt: '2025-10-02T08:53:20.000Z',
    lastSeenAt: '2025-10-08T08:53:00.000Z',
  },
];

const results = {
  validate: { ...license, licenseId, lease },
  lease: { ...license, licenseId, lease },
  register: signedIn,
  login: signedIn,
  upgrade: { ...signedIn, license: { ...signedIn.license, subscriptionTier: 3 } },
  'devices.list': { licenseId, devices, deviceLimit: 3, ...allowance, next: deviceIds[1] },
  'devices.release': { licenseId, releasedDeviceId: deviceIds[1], ...allowance },
  'devices.move': { licenseId, deviceId: deviceIds[0], releasedDeviceId: deviceIds[1], ...allowance },
} as const satisfies Record<CallName, object>;

const answerHead = (call: CallName) => ({ v: 2, call, time: now + 1 });

/** The members of an answer that grants this call. */
export const goodAnswer = (call: CallName) => ({
  ...answerHead(call),
  success: true,
  code: 'OK',
  message: 'Die Lizenz ist gültig',
  ...results[call],
});

/** The members of a refusal of this call. */
export const refusal = (call: CallName, code: string) => ({
  ...answerHead(call),
  success: false,
  code,
  message: `Refused: ${code}`,
  ...(call === 'validate' || call === 'lease' ? { status: null, expiresAt: null } : {}),
});
