import fc from 'fast-check';
import { afterAll } from 'vitest';
import { tally } from './tally.ts';

/** Counts every input of a property test for `npm run trust`. vitest.config.ts loads it only there. */
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
