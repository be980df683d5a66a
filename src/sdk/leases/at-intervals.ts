/**
 * Runs a task again and again until the program ends, without keeping a program running that would otherwise end.
 * @param seconds between two runs
 */
export function atIntervals(seconds: number, task: () => void): void {
  const timer: unknown = setInterval(task, seconds * 1000);
  // Node.js has timers as objects, browsers as numbers.
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
    timer.unref();
  }
}
