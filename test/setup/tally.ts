import { appendFileSync } from 'node:fs';

/**
 * Says what a test has really done, for `npm run trust` to sum up: one JSON object a line, in the file that TRUST_TALLY
 * names. Nothing is written where it names none.
 * @param counted what is added up over all tests
 * @param most of what the largest counts, such as a time in milliseconds
 */
export function tally(
  counted: Readonly<Record<string, number>>,
  most: Readonly<Record<string, number>> = {},
): void {
  const file = process.env.TRUST_TALLY;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ counted, most })}\n`);
}
