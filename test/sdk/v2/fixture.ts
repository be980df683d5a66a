import { test as base } from 'vitest';
import { type StandIn, startStandIn } from './stand-in.ts';

/** A test with its own stand-in server of version 2. */
export const test = base.extend<{ server: StandIn }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads which fixtures this one needs from the pattern
  server: async ({}, use) => {
    const server = await startStandIn();
    await use(server);
    await server.close();
  },
});
