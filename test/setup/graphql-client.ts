import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
import { z } from 'zod';
import type { ApiAnswer, ApiClient, ApiClientOptions } from './api-client.ts';

/** An error of a GraphQL answer. */
export type GraphqlFailure = z.infer<typeof failure>;

/** A response of the GraphQL endpoint. */
export interface GraphqlAnswer<Data> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if nothing was executed. */
  readonly data: Data | null | undefined;
  readonly errors: readonly GraphqlFailure[];
  /** `extensions.code` of every error, in order. */
  readonly codes: readonly string[];
  /** The unparsed response. */
  readonly answer: ApiAnswer;
}

/** A generated operation: its text, and the types of its result and variables. */
export type Operation<Data, Variables> = DocumentTypeDecoration<Data, Variables> & { toString(): string };

type VariablesArgument<Variables> =
  Record<string, never> extends Variables ? [variables?: Variables] : [variables: Variables];

const failure = z.object({
  message: z.string(),
  path: z.array(z.union([z.string(), z.number()])).optional(),
  locations: z.array(z.object({ line: z.number(), column: z.number() })).optional(),
  extensions: z.looseObject({ code: z.string() }),
});

const envelope = z.strictObject({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(failure).min(1).optional(),
});

/** A client of `/graphql` like a dashboard, with the address and credentials of an ApiClient. */
export class GraphqlClient {
  readonly api: ApiClient;

  constructor(api: ApiClient) {
    this.api = api;
  }

  /** The same client with other credentials or headers. */
  with(options: ApiClientOptions): GraphqlClient {
    return new GraphqlClient(this.api.with(options));
  }

  /** Sends a generated operation. */
  request<Data, Variables>(
    operation: Operation<Data, Variables>,
    ...[variables]: VariablesArgument<Variables>
  ): Promise<GraphqlAnswer<Data>> {
    return this.ask<Data>(operation.toString(), variables);
  }

  /** Sends any text as a query, with any variables. */
  async ask<Data = Record<string, unknown>>(
    query: string,
    variables?: unknown,
  ): Promise<GraphqlAnswer<Data>> {
    return readAnswer(await this.api.post('/graphql', { query, variables }));
  }
}

/**
 * Parses a `/graphql` response. The types of the data are generated from the committed schema, and the tests verify them.
 */
export function readAnswer<Data = Record<string, unknown>>(answer: ApiAnswer): GraphqlAnswer<Data> {
  const { data, errors = [] } = envelope.parse(answer.body);
  return {
    status: answer.status,
    headers: answer.headers,
    data: data as Data | null | undefined,
    errors,
    codes: errors.map((error) => error.extensions.code),
    answer,
  };
}

/** The data of a response without errors. */
export function dataOf<Data>(answer: GraphqlAnswer<Data>): Data {
  if (answer.errors.length > 0 || answer.data === null || answer.data === undefined) {
    throw new Error(`The operation failed: ${JSON.stringify(answer.answer.body)}`);
  }
  return answer.data;
}
