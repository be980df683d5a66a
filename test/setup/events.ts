import { expect } from 'vitest';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';

const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** An event as REST delivers it. */
export const event = z.strictObject({
  id: uuid,
  type: z.string(),
  timestamp: z.iso.datetime(),
  sequence: z.int().min(1),
  applicationId: uuid.nullable(),
  subject: z.strictObject({ kind: z.string(), id: uuid.nullable() }),
  data: z.record(z.string(), z.unknown()),
});
export type ShownEvent = z.infer<typeof event>;

export const eventsAnswer = z.strictObject({
  success: z.literal(true),
  events: z.array(event),
  nextCursor: uuid.nullable(),
  hasMore: z.boolean(),
});
export type EventsAnswer = z.infer<typeof eventsAnswer>;

/** Asks for a page of events. */
export async function pageOfEvents(
  client: ApiClient,
  query: Readonly<Record<string, string | number | null | undefined>> = {},
): Promise<EventsAnswer> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value == null ? [] : [[name, String(value)]],
  );
  const answer = await client.get(`/api/v1/events?${new URLSearchParams(given)}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return eventsAnswer.parse(answer.body);
}

/** All events of an account after one, page by page. */
export async function allEvents(
  client: ApiClient,
  after: string | null = null,
  query: Readonly<Record<string, string | number>> = {},
): Promise<readonly ShownEvent[]> {
  const found: ShownEvent[] = [];
  for (let cursor = after, hasMore = true; hasMore; ) {
    const page = await pageOfEvents(client, { limit: 200, ...query, after: cursor });
    found.push(...page.events);
    cursor = page.nextCursor;
    hasMore = page.hasMore;
  }
  return found;
}

export const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
export const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
