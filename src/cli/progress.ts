import { clearLine, cursorTo } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** How far a command has come. */
export interface Progress {
  advance(count: number): void;
  /** Takes the bar away. Call it whatever has happened. */
  end(): void;
}

export interface ProgressOptions {
  /** What is being done, such as `Backing up`. */
  readonly title: string;
  readonly total: number;
  /** What is counted, such as `rows`. */
  readonly unit: string;
  /** How long to wait between two lines where no bar can be drawn, in milliseconds. */
  readonly lineEvery?: number;
}

const drawEvery = 100;
const widestBar = 40;

/**
 * Shows on standard error how far something has come: a bar on a terminal, a line now and then in a log. (The bar of
 * @clack/prompts takes over the keyboard: Ctrl-C would end the process with 0, and with what it has begun undone by
 * nobody.)
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
    const bar = Math.min(widestBar, width - text.length - 1);
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

/** A number for people. */
export const print = (count: number): string => count.toLocaleString('en-US');

/** What is left by the pace so far; nothing before there is one. */
function rest(startedAt: number, done: number, total: number): string {
  const elapsed = (performance.now() - startedAt) / 1000;
  if (elapsed < 2 || done === 0 || done >= total) return '';
  const seconds = Math.ceil((elapsed / done) * (total - done));
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}
