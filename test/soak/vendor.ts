import { z } from 'zod';

/** A vendor's program, which takes every answer for what it is. */
export interface SoakVendor {
  /** @returns `OK` with the body, or what was answered instead */
  send(method: string, path: string, input?: object, bearer?: string): Promise<Answer>;
  graphql(query: string, variables: object): Promise<Answer>;
  /** Follows the log until the signal, as a dashboard does. */
  follow(applicationId: string, onEntry: () => void, signal: AbortSignal): Promise<void>;
}

export interface Answer {
  readonly code: string;
  readonly body: unknown;
}

const failure = z.object({ code: z.string() });
const graphqlFailure = z.object({
  errors: z.tuple([z.object({ extensions: z.object({ code: z.string() }) })], z.unknown()),
});

export function createSoakVendor(baseUrl: string, apiKey: string): SoakVendor {
  const open = (
    method: string,
    path: string,
    input: object | undefined,
    bearer: string,
    more?: RequestInit,
  ) =>
    fetch(baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${bearer}`,
        ...(input !== undefined && { 'Content-Type': 'application/json' }),
        ...more?.headers,
      },
      ...(input !== undefined && { body: JSON.stringify(input) }),
      ...(more?.signal && { signal: more.signal }),
    });

  const send = async (method: string, path: string, input?: object, bearer = apiKey): Promise<Answer> => {
    const answer = await open(method, path, input, bearer);
    const body: unknown = await answer.json();
    if (answer.ok) return { code: 'OK', body };
    if (answer.status >= 500) return { code: `HTTP ${answer.status}`, body };
    return { code: failure.safeParse(body).data?.code ?? `HTTP ${answer.status}`, body };
  };

  return {
    send,
    graphql: async (query, variables) => {
      const answer = await send('POST', '/graphql', { query, variables });
      const refused = graphqlFailure.safeParse(answer.body);
      return refused.success ? { code: refused.data.errors[0].extensions.code, body: answer.body } : answer;
    },
    follow: async (applicationId, onEntry, signal) => {
      const query = 'subscription ($id: ID!) { securityLog(applicationId: $id) { id event } }';
      const input = { query, variables: { id: applicationId } };
      const answer = await open('POST', '/graphql', input, apiKey, {
        headers: { Accept: 'text/event-stream' },
        signal,
      });
      for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        for (const _ of chunk.matchAll(/^event: next/gm)) onEntry();
      }
    },
  };
}
