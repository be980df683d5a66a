import { UsageError } from './bench/options.ts';

/** Ends the process with the code of a tool; what was asked wrongly is told without a stack. */
export function runTool(main: () => Promise<number>): void {
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      const isPlain = error instanceof UsageError || !(error instanceof Error);
      process.stderr.write(`${isPlain ? String(error) : error.stack}\n`);
      process.exit(1);
    },
  );
}
