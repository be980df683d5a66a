import type { LogEntryFragment, SecurityEvent } from '../generated/graphql.ts';
import { accountTexts } from './account-texts.ts';
import type { EntryWords } from './entry-words.ts';
import { licenseTexts } from './license-texts.ts';

const words: Readonly<Record<SecurityEvent, EntryWords>> = { ...accountTexts, ...licenseTexts };

const isEvent = (name: string): name is SecurityEvent => Object.hasOwn(words, name);

/** Every kind of entries, such as for a filter, in the order of their names. */
export const entryEvents: readonly SecurityEvent[] = Object.keys(words)
  .filter(isEvent)
  .sort((one, other) => words[one].label.localeCompare(words[other].label));

/** The name of a kind of entries. */
export const eventLabel = (event: SecurityEvent): string => words[event].label;

/** A sentence about what happened. It names neither the license nor the user: rows link to them. */
export function entryText({
  event,
  code,
  metadata,
}: Pick<LogEntryFragment, 'event' | 'code' | 'metadata'>): string {
  // A service that is newer than this page may know more kinds.
  const known: EntryWords | undefined = words[event];
  if (known === undefined) return event.replaceAll('_', ' ');
  const label = code && code !== 'OK' ? (known.refused ?? known.label) : known.label;
  const detail = known.detail?.(metadata) ?? null;
  return detail === null ? label : `${label}: ${detail}`;
}
