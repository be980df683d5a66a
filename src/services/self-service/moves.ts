import type { LockedLicense } from '../license/lock.ts';

/** How many times of moves a license keeps. */
export const maxMoves = 100;

/** What decides whether a customer may move a device. */
export type MoveFacts = Pick<
  LockedLicense,
  'moveCount' | 'movePeriodSeconds' | 'cooldownSeconds' | 'movedAt'
>;

/** What is left of a license's moves. */
export interface Allowance {
  /** The end of the cooldown after the last move; null if it has ended. */
  readonly retryAt: Date | null;
  /** Null: any number. */
  readonly left: number | null;
  /** With none left: when the next one is; null if never. */
  readonly resetsAt: Date | null;
}

/** How far the clock of the instance that noted a move may be ahead, in milliseconds; far more than docs/clocks.md allows. */
const maxAhead = 60_000;

/** Later times do not count: the clock was set back, and they would refuse moves until it has caught up. */
export function allowanceOf(license: MoveFacts, now: Date): Allowance {
  const at = now.getTime();
  const past = license.movedAt.filter((time) => time <= at + maxAhead).sort((one, other) => one - other);
  const cooldownEnd = (past.at(-1) ?? Number.NEGATIVE_INFINITY) + license.cooldownSeconds * 1000;
  const retryAt = license.cooldownSeconds > 0 && cooldownEnd > at ? new Date(cooldownEnd) : null;
  const { moveCount, movePeriodSeconds } = license;
  if (moveCount === null || movePeriodSeconds === null) return { retryAt, left: null, resetsAt: null };
  const period = movePeriodSeconds * 1000;
  const counted = past.filter((time) => time > at - period);
  const left = Math.max(0, moveCount - counted.length);
  // The budget may have been lowered: then more than one has to leave the window.
  const leaving = counted[counted.length - moveCount];
  return { retryAt, left, resetsAt: left > 0 || leaving === undefined ? null : new Date(leaving + period) };
}

/** The members of an answer that tell an allowance. */
export type AllowanceMembers = {
  /** ISO 8601; null: now, or never if none is left. */
  readonly nextMoveAt: string | null;
  /** Null: any number. */
  readonly movesLeft: number | null;
};

export function allowanceMembers({ retryAt, left, resetsAt }: Allowance): AllowanceMembers {
  const next = Math.max(retryAt?.getTime() ?? 0, resetsAt?.getTime() ?? 0);
  return { nextMoveAt: next === 0 ? null : new Date(next).toISOString(), movesLeft: left };
}

/** The times to store after a move: the newest. */
export const movedAtAfter = ({ movedAt }: MoveFacts, now: Date): readonly number[] =>
  [...movedAt, now.getTime()].slice(-maxMoves);
