import { describeFailure } from '../failure.ts';

/** The result of a check. */
export type Level = 'ok' | 'warn' | 'fail';

/** One line of the doctor's report. */
export interface Finding {
  /** What was checked, in one or two words. Programs read it, so it must not change. */
  readonly check: string;
  readonly level: Level;
  /** What was found and what to do about it. It never contains a secret. */
  readonly message: string;
}

/** Creates findings of one check. */
export function findingsOf(check: string) {
  const of = (level: Level) => (message: string) => ({ check, level, message }) satisfies Finding;
  return { ok: of('ok'), warn: of('warn'), fail: of('fail') };
}

/** Runs one check. If it throws or takes too long, the result is one failed finding; a timeout also aborts its signal. */
export async function withinTime(
  check: string,
  seconds: number,
  work: (signal: AbortSignal) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const { fail } = findingsOf(check);
  const timeout = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<readonly Finding[]>((resolve) => {
    const message = `No answer within ${seconds} s: check that it is running and reachable from here.`;
    timer = setTimeout(() => {
      timeout.abort();
      resolve([fail(message)]);
    }, seconds * 1000);
  });
  try {
    return await Promise.race([
      work(timeout.signal).catch((error: unknown) => [fail(describeFailure(error))]),
      timedOut,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
