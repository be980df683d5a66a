import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { bodyJsonLimits, findExcess, type JsonLimits } from '../lib/json-limits.ts';

const excessMessages: Record<keyof JsonLimits, string> = {
  values: `The request body contains more than ${bodyJsonLimits.values.toLocaleString('en-US')} values. Split it into several requests.`,
  text: `A string in the request body is longer than ${bodyJsonLimits.text.toLocaleString('en-US')} bytes. Pass a query's values as variables.`,
};

const members: ReadonlySet<string> = new Set(['query', 'operationName', 'variables', 'extensions']);

/**
 * Parses the request in place of Yoga's parsers, whose errors have no body, the JSON parser's message, or status 500. The
 * root application refuses bodies that are not declared as JSON, so the body of a POST is JSON here.
 */
export const requestParser: Plugin = {
  onRequestParse: ({ request, requestParser: parse, setRequestParser }) => {
    if (request.method === 'POST') {
      setRequestParser(async (request) => requireQuery(await readBody(request)));
    } else if (parse !== undefined) {
      setRequestParser((request) =>
        Promise.resolve(request)
          .then(parse)
          .catch(refuse('variables and extensions must be well-formed JSON.'))
          .then(requireQuery),
      );
    }
  },
};

async function readBody(request: Request): Promise<object> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const excess = findExcess(bytes, bodyJsonLimits);
  if (excess !== null) tooLarge(excessMessages[excess]);
  const body = parseJson(bytes);
  if (isObject(body)) return body;
  return refuse('The request body must be a JSON object with a query.')();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Refuses invalid UTF-8: `request.json()` would repair it, so that different passwords would become equal. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return refuse('The request body must be well-formed JSON in UTF-8.')();
  }
}

/**
 * Refuses a request without a query, whatever media type it accepts (GraphQL over HTTP, "Status Codes"). The name of an
 * unknown member is shortened: it can be as long as a body.
 */
function requireQuery<Parameters extends object>(parameters: Parameters): Parameters {
  if (Array.isArray(parameters)) return parameters;
  for (const [member, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && !members.has(member)) {
      refuse(`The request has the unknown member ${JSON.stringify(member.slice(0, 40))}.`)();
    }
  }
  if (!('query' in parameters) || parameters.query === null || parameters.query === undefined)
    refuse('The request must have a query.')();
  return parameters;
}

/** Also true of an array: a batch, which Yoga refuses. */
const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null;

const tooLarge = (message: string): never => {
  throw createGraphQLError(message, { extensions: { code: 'PAYLOAD_TOO_LARGE', http: { status: 413 } } });
};

const refuse = (message: string) => (): never => {
  throw createGraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } });
};
