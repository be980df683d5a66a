import { durationText } from '../ui/duration.ts';
import { momentText, numberText } from '../ui/format.ts';

/** Details that the service recorded with an entry. Its members depend on the kind, and old entries may lack some. */
export type Metadata = Readonly<Record<string, unknown>>;

/** What an entry says beyond its kind; null if nothing. */
export type Detail = (metadata: Metadata) => string | null;

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** A text, as it is. */
export const text =
  (name: string): Detail =>
  (metadata) =>
    textOf(metadata[name]);

/** Such as "3 keys". */
export const count =
  (name: string, singular: string, plural: string): Detail =>
  (metadata) => {
    const amount = numberOf(metadata[name]);
    return amount === null ? null : `${numberText(amount)} ${amount === 1 ? singular : plural}`;
  };

export const duration =
  (name: string, before = '', after = ''): Detail =>
  (metadata) => {
    const seconds = numberOf(metadata[name]);
    return seconds === null || seconds === 0 ? null : `${before}${durationText(seconds)}${after}`;
  };

export const moment =
  (name: string, before: string): Detail =>
  (metadata) => {
    const at = textOf(metadata[name]);
    return at === null || Number.isNaN(Date.parse(at)) ? null : before + momentText(at);
  };

/** Members whose names are not words. */
const memberNames: Readonly<Record<string, string>> = {
  noteCiphertextB64: 'encrypted note',
  newPassword: 'password',
  hwidLockEnabled: 'device lock',
  allowedCidrs: 'allowed networks',
};

/** `deviceLimit` as "device limit". */
const wordsOf = (name: string): string =>
  memberNames[name] ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The names of what was changed: a list, or the members themselves. */
export const names =
  (member?: string): Detail =>
  (metadata) => {
    const value = member === undefined ? Object.keys(metadata) : metadata[member];
    const known = Array.isArray(value) ? value.flatMap((name) => textOf(name) ?? []) : [];
    return known.length === 0 ? null : known.map(wordsOf).join(', ');
  };

/** All details that there are. */
export const all =
  (...details: readonly Detail[]): Detail =>
  (metadata) =>
    details.flatMap((detail) => detail(metadata) ?? []).join(', ') || null;
