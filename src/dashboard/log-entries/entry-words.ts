import type { Detail } from './metadata.ts';

/** The words of a kind of entries. */
export interface EntryWords {
  readonly label: string;
  /** The label of an entry with a code other than OK. */
  readonly refused?: string;
  readonly detail?: Detail;
}
