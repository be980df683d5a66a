/** The terminal sends Ctrl-C to `npm start` and to this process, and npm passes it on: two signals, one wish. */
const sameSignalWithin = 1_000;

/**
 * Hears SIGTERM and SIGINT. A second signal is someone who does not want to wait.
 * @param endAtOnce for that signal, instead of an exit with 1
 */
export function onStopSignal(
  stop: (signal: NodeJS.Signals) => void,
  endAtOnce: () => void = () => process.exit(1),
): void {
  let heardAt: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    if (heardAt === undefined) {
      heardAt = performance.now();
      stop(signal);
    } else if (performance.now() - heardAt > sameSignalWithin) {
      endAtOnce();
    }
  };
  process.on('SIGTERM', hear);
  process.on('SIGINT', hear);
}
