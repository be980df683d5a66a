import { createYoga } from 'graphql-yoga';
import type { ServiceEnvironment } from '../services/context.ts';
import { refuseUnacceptable } from './accept.ts';
import { Answer } from './answer.ts';
import type { GraphqlContext } from './context.ts';
import { endWork } from './end-work.ts';
import { errorCodes } from './errors.ts';
import { requireEventStream, unbuffered } from './event-stream.ts';
import { keepDocuments } from './kept-documents.ts';
import { refuseThen } from './no-then.ts';
import { noteOperation } from './note-operation.ts';
import { refuseLargeQueries } from './query-limits.ts';
import { applyRateLimits } from './rate-limit.ts';
import { requestParser } from './request-parser.ts';
import { schema } from './schema.ts';

/** Answers GraphQL over HTTP. */
export type GraphqlHandler = (request: Request, context: GraphqlContext) => Promise<Answer>;

/** The README explains why each part of Yoga is replaced or switched off. */
export function createGraphqlHandler(services: ServiceEnvironment): GraphqlHandler {
  const yoga = createYoga<GraphqlContext>({
    schema: applyRateLimits(schema, services),
    graphqlEndpoint: '/graphql',
    landingPage: false,
    // The root application has the cross-origin rules.
    cors: false,
    multipart: false,
    batching: false,
    logging: services.log,
    // The root application serves GraphiQL.
    graphiql: false,
    maskedErrors: false,
    // Yoga only constructs responses. Its own ReadableStream would be copied into one that throws outside of any request,
    // and so ends the process, when a client leaves an event stream.
    fetchAPI: { Response: Answer as unknown as typeof Response, ReadableStream },
    // The root application limits the body, by who sends it.
    maxRequestBodySize: false,
    // Replaced by `keepDocuments`: this one caches thousands of documents of any size from anyone.
    parserAndValidationCache: false,
    plugins: [
      requestParser,
      keepDocuments(),
      refuseThen,
      refuseLargeQueries,
      noteOperation,
      endWork,
      requireEventStream,
      errorCodes,
    ],
  });
  return async (request, context) => {
    const refusal = refuseUnacceptable(request);
    if (refusal !== null) return refusal;
    const answer: unknown = await yoga.fetch(request, context);
    if (!(answer instanceof Answer))
      throw new TypeError('Yoga answered with something that is not from its fetchAPI');
    return unbuffered(answer);
  };
}
