import fc from 'fast-check';
import { afterAll } from 'vitest';
import { tally } from './tally.ts';

/** Counts every input that a property is tried with, for `npm run trust`: vitest.config.ts loads it there alone. */
let tried = 0;
fc.installGlobalPlugin(
  fc.beforeEach(() => {
    tried += 1;
  }),
);
afterAll(() => {
  if (tried > 0) tally({ inputs: tried });
  tried = 0;
});
