const intervalMs = 10 * 60 * 1000;

/** Runs a task every ten minutes, without keeping a program running that would otherwise end. */
export function everyTenMinutes(task: () => void): void {
  const timer: unknown = setInterval(task, intervalMs);
  // Node.js has timers as objects, browsers as numbers.
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
    timer.unref();
  }
}
