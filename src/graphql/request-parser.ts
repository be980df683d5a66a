import { createGraphQLError, type Plugin } from 'graphql-yoga';

/**
 * Reads the request where Yoga's own parsers answer without a body, with the parser's words, or with 500. The root
 * application has refused every body that is not declared as JSON, so that what a POST holds is JSON here.
 */
export const requestParser: Plugin = {
  onRequestParse: ({ request, requestParser: parse, setRequestParser }) => {
    if (request.method === 'POST') {
      setRequestParser(async (request) => {
        const body: unknown = await request
          .json()
          .catch(refuse('The request body must be well-formed JSON.'));
        if (isObject(body)) return body;
        return refuse('The request body must be a JSON object with a query.')();
      });
    } else if (parse !== undefined) {
      setRequestParser((request) =>
        Promise.resolve(request)
          .then(parse)
          .catch(refuse('variables and extensions must be well-formed JSON.')),
      );
    }
  },
};

/** An array is a batch, which Yoga refuses by itself. */
const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null;

const refuse = (message: string) => (): never => {
  throw createGraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
};
