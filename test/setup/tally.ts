import { appendFileSync } from 'node:fs';

/**
 * Records what a test has done, for the sums of `npm run trust`: one JSON object per line in the file TRUST_TALLY. Nothing
 * is written if that is not set.
 * @param counted numbers to add up over all tests
 * @param most numbers of which the maximum counts, such as a time in milliseconds
 */
export function tally(
  counted: Readonly<Record<string, number>>,
  most: Readonly<Record<string, number>> = {},
): void {
  const file = process.env.TRUST_TALLY;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ counted, most })}\n`);
}
