import type { EventData } from '../outbox/event.ts';
import { type LicenseRow, shownStatus } from './view.ts';

type Told = Pick<LicenseRow, 'keyPrefix' | 'status' | 'expiresAt' | 'suspendedAt' | 'clockStoppedAt'>;

/** What every event about a change of a license says: what the license is then. */
export const licenseEventData = (license: Told, now: Date): EventData => ({
  keyPrefix: license.keyPrefix,
  status: shownStatus(license, now),
  expiresAt: license.expiresAt?.toISOString() ?? null,
});

/** Licenses of one event of a mint. Each takes about 70 bytes. */
const licensesPerEvent = 500;

/** What the events of a mint say: which licenses there are now. */
export function mintEventData(
  licenses: readonly { readonly id: string; readonly keyPrefix: string }[],
): readonly EventData[] {
  const starts = Array.from(
    { length: Math.ceil(licenses.length / licensesPerEvent) },
    (_, index) => index * licensesPerEvent,
  );
  return starts.map((start) => ({
    licenses: licenses.slice(start, start + licensesPerEvent).map(({ id, keyPrefix }) => ({ id, keyPrefix })),
  }));
}
