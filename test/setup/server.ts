import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { createDeps, type Deps } from '../../src/deps.ts';
import type { HttpLimits } from '../../src/http-limits.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createHttpServer } from '../../src/server.ts';
import type { ResolveHost } from '../../src/services/webhook/resolve.ts';
import { createSteppableClock, type SteppableClock } from './clock.ts';
import { createServerDatabase, serverTemplate } from './database.ts';
import './engine-code.ts';
import { openKeptDatabase } from './kept-databases.ts';

// The application loads it on first use, which takes seconds where sources are transformed: no test is to wait for that.
import '../../src/graphql/handler.ts';

/**
 * A complete service for one test file, on its own port, reached over HTTP. It trusts one proxy, so that every client of a
 * test can have its own address and rate limits.
 */
export interface TestServer {
  readonly baseUrl: string;
  readonly clock: SteppableClock;
  readonly deps: Deps;
  /** All log lines of the service. */
  readonly logLines: readonly string[];
  /** The variables of its database and secret, for another instance. */
  readonly databaseEnv: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Which database the project under test runs on: vitest.config.ts runs the API tests once for each. */
const databaseKind = (): 'memory' | 'server' =>
  process.env.TEST_DATABASE_KIND === 'server' ? 'server' : 'memory';

export interface TestServerOptions {
  /** Environment variables in addition to those of the harness. */
  readonly env?: Readonly<Record<string, string>>;
  readonly database?: 'memory' | 'server';
  /** Replaces DNS for webhooks. By default, no name has an address. */
  readonly resolveHost?: ResolveHost;
  /** Connection limits. */
  readonly limits?: Partial<HttpLimits>;
  /** The server whose database this instance shares. It must outlive this instance. */
  readonly beside?: TestServer;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const database =
    options.beside === undefined
      ? await freshDatabase(options.database ?? databaseKind())
      : { env: options.beside.databaseEnv, drop: async () => undefined };
  const { resolveHost = async () => [] } = options;
  const clock = createSteppableClock();
  const logLines: string[] = [];
  const log = createLogger(
    'debug',
    new Writable({
      write(chunk, _encoding, done) {
        logLines.push(String(chunk));
        done();
      },
    }),
  );
  const config = loadConfig({ TRUST_PROXY: '1', PORT: '0', ...database.env, ...options.env });
  const deps = await createDeps(config, { clock, log, openDatabase: openKeptDatabase, resolveHost });
  const server = createHttpServer(createApp(deps), config, options.limits).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    clock,
    deps,
    logLines,
    databaseEnv: database.env,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await deps.close();
      await database.drop();
    },
  };
}

interface FreshDatabase {
  readonly env: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

async function freshDatabase(kind: 'memory' | 'server'): Promise<FreshDatabase> {
  if (kind === 'memory') return { env: { DATA_DIR: 'memory:' }, drop: async () => undefined };
  const { url, drop } = await createServerDatabase(await serverTemplate());
  return { env: { DATABASE_URL: url, SERVICE_SECRET: randomBytes(32).toString('base64') }, drop };
}
