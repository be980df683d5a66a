import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';

/** The environment of a service that may send webhooks to this machine. */
export const allowLoopback = { WEBHOOK_ALLOW: '127.0.0.0/8' };

const envelope = z.strictObject({
  id: z.string(),
  type: z.string(),
  timestamp: z.iso.datetime(),
  sequence: z.int(),
  applicationId: z.string().nullable(),
  subject: z.strictObject({ kind: z.string(), id: z.string().nullable() }),
  data: z.unknown(),
});

export type ReceivedEvent = z.infer<typeof envelope>;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The event, which is not verified. */
  readonly event: ReceivedEvent;
}

/** How a receiver answers: a status, or by itself. */
export type Respond = number | ((response: ServerResponse, received: Received) => void);

/** What a vendor runs at the other end: an HTTP server on loopback that records all messages. */
export interface Receiver {
  /** By path, so that several webhooks can have the same receiver. */
  url(path?: string): string;
  readonly received: readonly Received[];
  /** The messages for a path, in the order of their arrival. */
  at(path: string): readonly Received[];
  /** 200 at first. */
  respond(path: string, respond: Respond): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const responds = new Map<string, Respond>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const one = { path, headers: request.headers, body, event: envelope.parse(JSON.parse(body)) };
    received.push(one);
    const respond = responds.get(path) ?? 200;
    if (typeof respond === 'function') respond(response, one);
    else response.writeHead(respond).end(respond === 200 ? 'thank you' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    received,
    at: (path) => received.filter((one) => one.path === path),
    respond: (path, respond) => void responds.set(path, respond),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Verifies a message as a vendor does.
 * @throws {Error} if the signature does not fit the secret
 */
export function verify(secret: string, { body, headers }: Received): ReceivedEvent {
  const fields = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)] as const),
  );
  return envelope.parse(new Webhook(secret).verify(body, fields));
}

const created = z.object({ webhook: z.object({ id: z.string() }), secret: z.string() });

/** Creates a webhook. */
export async function createWebhook(
  client: ApiClient,
  fields: { readonly url: string } & Readonly<Record<string, unknown>>,
): Promise<{ readonly id: string; readonly secret: string }> {
  const answer = await client.post('/api/v1/webhooks', { types: ['*'], ...fields });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  const { webhook, secret } = created.parse(answer.body);
  return { id: webhook.id, secret };
}
