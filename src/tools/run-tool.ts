import { UsageError } from './bench/options.ts';

/** Runs a tool and exits with its code. Usage errors are printed without a stack. */
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
