import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { test as base } from 'vitest';
import { z } from 'zod';
import { createManagementClient, type ManagementClientOptions } from '../../src/management/index.ts';

/** A well-formed key that no service has issued. */
export const apiKey = `service_live_${'k3y'.repeat(14)}`;

const requestBody = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).optional() });

/** A received request. */
export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: string;
  readonly variables: Record<string, unknown> | undefined;
}

/** Writes a response, or leaves it open. */
export type Reply = (response: ServerResponse, seen: Seen) => void;

export interface StandIn {
  readonly baseUrl: string;
  /** Every request, in order. */
  readonly seen: Seen[];
  /** The number of open responses. */
  readonly open: () => number;
  /** The responses, in order; the last one is for all further requests. */
  answer(...replies: Reply[]): void;
  client(options?: Partial<ManagementClientOptions>): ReturnType<typeof createManagementClient>;
  close(): Promise<void>;
}

/** A complete response. */
export const reply =
  (status: number, body: string | Uint8Array, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

export const json = (status: number, body: unknown, headers?: Record<string, string>) =>
  reply(status, JSON.stringify(body), headers);

export const data = (fields: unknown) => json(200, { data: fields });

/** One GraphQL error instead of a field's value. */
export const failed = (code: string, field = 'me', headers?: Record<string, string>) =>
  json(
    200,
    { data: { [field]: null }, errors: [{ message: `No: ${code}`, path: [field], extensions: { code } }] },
    headers,
  );

/** A connection that is closed before any response. */
export const hangUp: Reply = (response) => response.destroy();

/** No response. */
export const silence: Reply = () => undefined;

/** A server on loopback with the /graphql responses of a test. */
export async function startStandIn(): Promise<StandIn> {
  const seen: Seen[] = [];
  let replies: Reply[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const { query, variables } = requestBody.parse(JSON.parse(text === '' ? '{"query":""}' : text));
    const came = { path: request.url ?? '', headers: request.headers, query, variables };
    seen.push(came);
    const next = replies.length > 1 ? replies.shift() : replies[0];
    (next ?? hangUp)(response, came);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The stand-in has no port');
  const baseUrl = `http://127.0.0.1:${address.port}`;
  return {
    baseUrl,
    seen,
    open: () => open,
    answer: (...given) => {
      replies = given;
    },
    client: (options) => createManagementClient({ baseUrl, apiKey, ...options }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A test with its own stand-in. */
export const test = base.extend<{ server: StandIn }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads which fixtures this one needs from the pattern
  server: async ({}, use) => {
    const server = await startStandIn();
    await use(server);
    await server.close();
  },
});

/** The rejection reason of a promise. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('The promise was not rejected');
}
