import { expect, test } from 'vitest';
import { type NotedUse, noteUse } from '../../src/services/license/note-use.ts';
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
  return {
    noted,
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
    use: (hwid: string | null, ip: string | null, hwidLockEnabled = true) =>
      noteUse(
        {
          env: {
            clock: { now: () => now },
            securityLog: { deviceSeen: (id, use) => void noted.push([id, use]) },
          },
          client: { ip, country: 'SE' },
        },
        { application: { hwidLockEnabled }, license, hwid },
      ),
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
