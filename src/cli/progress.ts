import { clearLine, cursorTo } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Reports the progress of a command. */
export interface Progress {
  advance(count: number): void;
  /** Removes the bar. Call it on failure too. */
  end(): void;
}

export interface ProgressOptions {
  /** Such as `Backing up`. */
  readonly title: string;
  readonly total: number;
  /** Such as `rows`. */
  readonly unit: string;
  /** Milliseconds between two lines, where no bar can be drawn. */
  readonly lineEvery?: number;
}

const drawEvery = 100;
const maxBarWidth = 40;

/**
 * Shows progress on standard error: a bar on a terminal, a line every few seconds otherwise. (@clack/prompts has a bar
 * too, but it captures the keyboard: Ctrl-C would exit with 0 and skip the cleanup.)
 */
export function startProgress({ env, stderr }: Terminal, options: ProgressOptions): Progress {
  const { title, total, unit, lineEvery = 10_000 } = options;
  const hasBar = stderr.isTTY === true && env.TERM !== 'dumb';
  const startedAt = performance.now();
  let done = 0;
  let shownAt = hasBar ? Number.NEGATIVE_INFINITY : startedAt;

  const line = (): string =>
    `${title}: ${print(done)} of ${print(total)} ${unit}${rest(startedAt, done, total)}`;

  function draw(): void {
    const width = (stderr.columns ?? 80) - 1;
    const text = line();
    const bar = Math.min(maxBarWidth, width - text.length - 1);
    cursorTo(stderr, 0);
    stderr.write(bar < 10 ? text.slice(0, width) : `${filled(bar, total === 0 ? 1 : done / total)} ${text}`);
    clearLine(stderr, 1);
  }

  return {
    advance(count) {
      done += count;
      const now = performance.now();
      if (now - shownAt < (hasBar ? drawEvery : lineEvery)) return;
      shownAt = now;
      if (hasBar) draw();
      else stderr.write(`${line()}\n`);
    },
    end() {
      if (!hasBar) return;
      cursorTo(stderr, 0);
      clearLine(stderr, 1);
    },
  };
}

const filled = (width: number, part: number): string => {
  const full = Math.round(width * Math.min(1, part));
  return '█'.repeat(full) + '░'.repeat(width - full);
};

/** Formats a number with thousands separators. */
export const print = (count: number): string => count.toLocaleString('en-US');

/** The estimated time left, or an empty string in the first two seconds. */
function rest(startedAt: number, done: number, total: number): string {
  const elapsed = (performance.now() - startedAt) / 1000;
  if (elapsed < 2 || done === 0 || done >= total) return '';
  const seconds = Math.ceil((elapsed / done) * (total - done));
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}
