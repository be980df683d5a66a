import { Redis } from 'ioredis';
import { type Credentials, type Host, serverNameOf } from './redis-address.ts';

/** Timeout of one question, in milliseconds. Others are asked after it, so one that hangs must not delay them for long. */
const timeoutMilliseconds = 500;

export interface ServerAccess {
  readonly tls: boolean;
  readonly credentials: Credentials | null;
}

/**
 * Asks a sentinel or a node of a cluster something, on a connection that is closed again.
 * @throws {Error} what ioredis reports. Describe it with `failureOf`
 */
export async function askServer<Answer>(
  { host, port }: Host,
  { tls, credentials }: ServerAccess,
  question: (client: Redis) => Promise<Answer>,
): Promise<Answer> {
  const client = new Redis({
    host,
    port,
    ...(tls && { tls: { servername: serverNameOf(host) } }),
    lazyConnect: true,
    retryStrategy: null,
    // Without HELLO, so that the only answer about credentials is the one to AUTH below.
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    connectTimeout: timeoutMilliseconds,
    commandTimeout: timeoutMilliseconds,
    disconnectTimeout: timeoutMilliseconds,
  });
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect().catch((error: unknown) => {
      throw reason ?? error;
    });
    const { user, password } = credentials ?? { user: null, password: null };
    if (password !== null) await (user === null ? client.auth(password) : client.auth(user, password));
    return await question(client);
  } finally {
    client.disconnect();
  }
}
