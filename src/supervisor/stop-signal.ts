/** A terminal sends Ctrl-C to `npm start` and to this process, and npm forwards it: one Ctrl-C is two signals. */
const sameSignalWithin = 1_000;

/**
 * Listens for SIGTERM and SIGINT. The first signal calls `stop`, a second one ends the process at once.
 * @param endAtOnce called for the second signal; by default, the process exits with 1
 */
export function onStopSignal(
  stop: (signal: NodeJS.Signals) => void,
  endAtOnce: () => void = () => process.exit(1),
): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      stop(signal);
    } else if (performance.now() - firstAt > sameSignalWithin) {
      endAtOnce();
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
