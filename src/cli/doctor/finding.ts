/** How it stands with one thing that was looked at. */
export type Level = 'ok' | 'warn' | 'fail';

/** What a check found. */
export interface Finding {
  /** What was looked at, in a word or two: stable, for programs that read it. */
  readonly check: string;
  readonly level: Level;
  /** What was found, and what to do about it. Never with a secret. */
  readonly message: string;
}

/** The findings of one thing that is looked at, by its name. */
export function findingsOf(check: string) {
  const of = (level: Level) => (message: string) => ({ check, level, message }) satisfies Finding;
  return { ok: of('ok'), warn: of('warn'), fail: of('fail') };
}

/**
 * Runs one check. One that throws has failed, with the reason; one that takes longer than it may is told to end by its
 * signal, and is a failure too.
 */
export async function withinTime(
  check: string,
  seconds: number,
  work: (signal: AbortSignal) => Promise<readonly Finding[]>,
  reasonOf: (error: unknown) => string,
): Promise<readonly Finding[]> {
  const { fail } = findingsOf(check);
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<readonly Finding[]>((resolve) => {
    const message = `No answer within ${seconds} s: check that what it asks runs, and is reached from here.`;
    timer = setTimeout(() => {
      ending.abort();
      resolve([fail(message)]);
    }, seconds * 1000);
  });
  try {
    return await Promise.race([
      work(ending.signal).catch((error: unknown) => [fail(reasonOf(error))]),
      silence,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
