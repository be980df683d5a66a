import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts';
import { createWorld, type World } from './world.ts';

/**
 * What a file's tests share, in a line each:
 *
 *   const { server, world } = useWorld({ env: noLimits });
 *   const application = forTest(() => world.createApplication());
 *
 * Each is made before the tests, in the order in which the lines stand. Only tests and hooks may look at it.
 */

/** A service for the file, with a developer who is logged in. */
export function useWorld(options: TestServerOptions = {}): {
  readonly server: TestServer;
  readonly world: World;
} {
  const server = useServer(options);
  return { server, world: forFile(() => createWorld(server)) };
}

/** A service for the file. It is closed after the last test. */
export function useServer(options: TestServerOptions = {}): TestServer {
  const server = forFile(() => startTestServer(options));
  afterAll(() => server.close());
  return server;
}

/** Made once, before the file's tests. */
export function forFile<Made extends object>(make: () => Promise<Made>): Made {
  const { made, remake } = later(make);
  beforeAll(remake);
  return made;
}

/** Made anew before each test. */
export function forTest<Made extends object>(make: () => Promise<Made>): Made {
  const { made, remake } = later(make);
  beforeEach(remake);
  return made;
}

/** An object that stands for what was made last, so that a test file can name it before there is one. */
function later<Made extends object>(
  make: () => Promise<Made>,
): { readonly made: Made; readonly remake: () => Promise<void> } {
  let last: Made | null = null;
  const current = (): Made => {
    if (last === null) throw new Error('This is made before the tests: look at it in a test or a hook.');
    return last;
  };
  const made = new Proxy<Made>(Object.create(null), {
    get: (_, name) => Reflect.get(current(), name),
    has: (_, name) => Reflect.has(current(), name),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(current(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
  return {
    made,
    remake: async () => {
      last = await make();
    },
  };
}
