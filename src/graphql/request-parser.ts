import { createGraphQLError, type Plugin } from 'graphql-yoga';

/**
 * Reads the request where Yoga's own parsers answer without a body, with the parser's words, or with 500. The root
 * application has refused every body that is not declared as JSON, so that what a POST holds is JSON here.
 */
export const requestParser: Plugin = {
  onRequestParse: ({ request, requestParser: parse, setRequestParser }) => {
    if (request.method === 'POST') {
      setRequestParser(async (request) => {
        const body: unknown = await readJson(request).catch(
          refuse('The request body must be well-formed JSON in UTF-8.'),
        );
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

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are no UTF-8 are refused: `request.json()` repairs them, so that different passwords become one. */
async function readJson(request: Request): Promise<unknown> {
  return JSON.parse(utf8.decode(await request.arrayBuffer()));
}

/** An array is a batch, which Yoga refuses by itself. */
const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null;

const refuse = (message: string) => (): never => {
  throw createGraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
};
