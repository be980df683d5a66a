const pad = (value: number): string => String(value).padStart(2, '0');

/** A moment as an input of the type `datetime-local` has it: in the reader's time zone, to the second. */
export function localMoment(iso: string): string {
  const date = new Date(iso);
  const year = String(date.getFullYear()).padStart(4, '0');
  const day = `${year}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** The moment that such an input names; null if it is empty or incomplete. */
export function momentOf(local: string): string | null {
  const date = new Date(local);
  return local === '' || Number.isNaN(date.getTime()) ? null : date.toISOString();
}
