import { expect } from 'vitest';
import type { Query } from './installation.ts';

/** Checks that every committed change has its event, and every event its change; and that numbers have no gaps. */
export async function expectEventsOfChanges(query: Query): Promise<void> {
  const column = async (text: string, values: readonly unknown[] = []) =>
    (await query<{ value: string }>(text, values)).map(({ value }) => value).toSorted();
  const subjectsOf = (type: string) =>
    column('SELECT subject_id::text AS value FROM events WHERE type = $1', [type]);

  const changes: Readonly<Record<string, string>> = {
    'license.activated': 'SELECT id::text AS value FROM licenses WHERE activated_at IS NOT NULL',
    'license.banned': `SELECT id::text AS value FROM licenses WHERE status = 'banned'`,
    'device.bound': 'SELECT id::text AS value FROM devices',
    'user.registered': 'SELECT id::text AS value FROM end_users',
    'api_key.created': 'SELECT id::text AS value FROM api_keys',
    'api_key.revoked': 'SELECT id::text AS value FROM api_keys WHERE revoked_at IS NOT NULL',
  };
  for (const [type, text] of Object.entries(changes)) {
    const changed = await column(text);
    expect(await subjectsOf(type), type).toEqual(changed);
  }
  expect((await subjectsOf('license.activated')).length).toBeGreaterThan(0);
  expect(
    await column(`
      SELECT license ->> 'id' AS value FROM events, jsonb_array_elements(data -> 'licenses') AS license
      WHERE type = 'license.created'`),
  ).toEqual(await column('SELECT id::text AS value FROM licenses'));

  const [numbers] = await query<{ numbered: number; highest: number; last: number }>(`
    SELECT count(sequence)::int AS numbered, max(sequence)::int AS highest,
      (SELECT last_sequence FROM event_streams)::int AS last FROM events`);
  if (numbers?.last != null)
    expect(numbers).toEqual({ numbered: numbers.last, highest: numbers.last, last: numbers.last });
}
