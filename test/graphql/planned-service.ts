import type { ExecutionArgs, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { keepDocuments } from '../../src/graphql/kept-documents.ts';
import { planQueries } from '../../src/graphql/plan-queries.ts';

export interface Asked {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string;
}

/** What a small service answers, that keeps documents and plans queries, and counts what the executor was asked for. */
export function servePlanned(schema: GraphQLSchema, type: 'developer' | 'nobody' = 'developer') {
  let executions = 0;
  const countExecutions: Plugin = {
    onExecute: ({ executeFn, setExecuteFn }) =>
      setExecuteFn((args: ExecutionArgs) => {
        executions += 1;
        return executeFn(args);
      }),
  };
  const yoga = createYoga({
    schema,
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
    plugins: [keepDocuments(), countExecutions, planQueries()],
  });
  /** The body of an answer as text, and whether the executor made it. */
  const ask = async (asked: Asked, more: object = {}) => {
    const before = executions;
    const accept = asked.query.startsWith('subscription') ? 'text/event-stream' : 'application/json';
    const headers = { 'Content-Type': 'application/json', Accept: accept };
    const response = await yoga.fetch(
      'http://127.0.0.1/graphql',
      { method: 'POST', headers, body: JSON.stringify(asked) },
      { service: { actor: { type } }, ...more },
    );
    const text = await response.text();
    return { text, isExecuted: executions > before };
  };
  return ask;
}
