import { useSyncExternalStore } from 'react';
import { adviceFor } from '../api/advice.ts';
import { asApiError } from '../api/api-error.ts';

interface Undo {
  readonly label: string;
  readonly run: () => void;
}

export interface Message {
  readonly title: string;
  readonly description?: string | undefined;
  readonly undo?: Undo | undefined;
  readonly isError?: boolean;
}

/** The viewport is loaded for the first message: the first screen does without its code. */
let show: ((message: Message) => void) | null = null;
const waiting: Message[] = [];
const readers = new Set<() => void>();
let isWanted = false;

function say(message: Message): void {
  if (show !== null) {
    show(message);
    return;
  }
  waiting.push(message);
  isWanted = true;
  for (const read of readers) read();
}

const subscribe = (read: () => void) => {
  readers.add(read);
  return () => readers.delete(read);
};

/** Whether there was a message, so that the viewport has to be on the page. */
export const useWantsToasts = (): boolean => useSyncExternalStore(subscribe, () => isWanted);

/** Takes what shows messages, and shows those that wait. */
export function connectToasts(add: (message: Message) => void): void {
  show = add;
  for (const message of waiting.splice(0)) add(message);
}

/** Says that something was done, with a way back where there is one. */
export const tell = (title: string, undo?: Undo): void => say({ title, undo });

/** Says why something was not done, and what to do about it. */
export function tellError(thrown: unknown): void {
  const error = asApiError(thrown);
  say({ title: error.message, description: adviceFor(error), isError: true });
}
