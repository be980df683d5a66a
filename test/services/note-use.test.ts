import { expect, test } from 'vitest';
import { type NotedUse, noteAddress, noteUse } from '../../src/services/license/note-use.ts';
import type { DeviceUse } from '../../src/services/security-log/uses.ts';

const start = Date.UTC(2026, 2, 1, 12);

/** Notes uses of one cached license with the active device `one` and the released device `two`. */
function notes() {
  let now = start;
  const noted: [string, DeviceUse][] = [];
  const lastSeenAt = new Date(start - 60_000);
  const about = { hwid: null, deviceHash: null, lastSeenAt, releasedAt: null };
  const license: NotedUse['license'] = {
    id: 'a license',
    applicationId: 'an application',
    deviceLimit: 2,
    selfService: 'key',
    releaseIdleAfterSeconds: null,
    devices: [
      { ...about, id: 'device 1', hwid: 'one' },
      { ...about, id: 'device 2', hwid: 'two', releasedAt: lastSeenAt },
    ],
  };
  const addresses: [id: string, ip: string | null][] = [];
  const context = (ip: string | null) => ({
    env: {
      clock: { now: () => now },
      securityLog: {
        deviceSeen: (id: string, use: DeviceUse) => void noted.push([id, use]),
        seen: (id: string, address: string | null) => void addresses.push([id, address]),
      },
    },
    client: { ip, country: 'SE' },
  });
  return {
    noted,
    addresses,
    from: (ip: string | null) => noteAddress(context(ip), license),
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
    use: (hwid: string | null, ip: string | null, hwidLockEnabled = true) =>
      noteUse(context(ip), { application: { hwidLockEnabled }, license, hwid }),
  };
}

const useAt = (minutes: number, ip: string | null): [string, DeviceUse] => [
  'device 1',
  { licenseId: 'a license', at: new Date(start + minutes * 60_000), ip, country: 'SE' },
];

test('a use is noted once a minute for each address, to the minute', () => {
  const { noted, wait, use } = notes();
  for (let turn = 0; turn < 3; turn += 1) use('one', '198.51.100.7');
  expect(noted).toEqual([useAt(0, '198.51.100.7')]);
  wait(59_999);
  use('one', '198.51.100.7');
  expect(noted).toHaveLength(1);
  use('one', null);
  wait(1);
  for (let turn = 0; turn < 3; turn += 1) use('one', null);
  expect(noted.slice(1)).toEqual([useAt(0, null), useAt(1, null)]);
});

test('nothing is noted without a device, of an unknown or a released one, or while devices are not bound', () => {
  const { noted, use } = notes();
  use(null, '198.51.100.7');
  use('three', '198.51.100.7');
  use('two', '198.51.100.7');
  use('one', '198.51.100.7', false);
  expect(noted).toEqual([]);
});

test("a license's address is noted once a minute for each address", () => {
  const { addresses, from, wait } = notes();
  for (let turn = 0; turn < 3; turn += 1) from('198.51.100.7');
  from('198.51.100.8');
  from('198.51.100.7');
  wait(60_000);
  from('198.51.100.7');
  expect(addresses.map(([, ip]) => ip)).toEqual([
    '198.51.100.7',
    '198.51.100.8',
    '198.51.100.7',
    '198.51.100.7',
  ]);
});
