import * as z from 'zod';
import { type AnsweredError, ManagementError } from './errors.ts';
import type { HttpAnswer } from './http.ts';

/** The data of a successful response: all root fields, none null. */
export type RootFields = Readonly<Record<string, unknown>>;

const path = z.array(z.union([z.string(), z.number()]));
const issues = z.array(z.object({ path, message: z.string() }));

const graphqlError = z
  .object({
    message: z.string(),
    path: path.optional(),
    extensions: z
      .object({
        code: z.string().default('BAD_ANSWER'),
        issues: issues.optional(),
        requestId: z.string().optional(),
      })
      .prefault({}),
  })
  .transform(({ message, path, extensions }): AnsweredError => {
    return { ...extensions, message, ...(path && { path }) };
  });

const graphqlAnswer = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(graphqlError).optional(),
});

/** An error from before GraphQL execution, such as a body that is too large or an unknown route. */
const restFailure = z
  .object({
    success: z.literal(false),
    error: z.string(),
    code: z.string(),
    issues: issues.optional(),
    requestId: z.string().optional(),
  })
  .transform(({ code, error, issues, requestId }): AnsweredError => {
    return { code, message: error, ...(issues && { issues }), ...(requestId && { requestId }) };
  });

/** Reads the data of a response. @throws {ManagementError} if the response has errors or is not a GraphQL response */
export function readAnswer(answer: HttpAnswer): RootFields {
  const body = parseJson(answer.text);
  const graphql = graphqlAnswer.safeParse(body);
  if (graphql.success && (graphql.data.data !== undefined || graphql.data.errors !== undefined)) {
    return readResult(graphql.data, answer);
  }
  const rest = restFailure.safeParse(body);
  if (rest.success) throw failureOf([rest.data], answer);
  throw notGraphql(answer);
}

/** Reads the data of a stream event: an execution result in JSON. @throws {ManagementError} */
export function readEvent(text: string, { status, headers }: Omit<HttpAnswer, 'text'>): RootFields {
  return readAnswer({ status, headers, text });
}

function readResult({ data, errors = [] }: z.infer<typeof graphqlAnswer>, answer: HttpAnswer): RootFields {
  if (errors.length > 0) throw failureOf(errors, answer, data);
  const missing = Object.entries(data ?? {}).find(([, value]) => value === null)?.[0];
  if (data === null || data === undefined || missing !== undefined) {
    // Returning this would violate Present<Data>.
    const message = `The response has neither ${missing ?? 'data'} nor an error that explains why`;
    throw new ManagementError('BAD_ANSWER', message, { ...detailsOf(answer), data });
  }
  return data;
}

function failureOf(errors: readonly AnsweredError[], answer: HttpAnswer, data?: unknown): ManagementError {
  const [first] = errors;
  const details = { ...detailsOf(answer), errors, data };
  return new ManagementError(first?.code ?? 'BAD_ANSWER', first?.message ?? 'The operation failed', details);
}

/** Converts a response that does not come from the service, such as a proxy's, by its status. Its text is not repeated. */
function notGraphql(answer: HttpAnswer): ManagementError {
  const { status, headers, text } = answer;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  const what = `HTTP ${status} with ${text === '' ? 'an empty body' : type}, which is not a GraphQL response`;
  if (status === 429)
    return new ManagementError('RATE_LIMITED', `Too many requests: ${what}`, detailsOf(answer));
  if (status === 413)
    return new ManagementError('PAYLOAD_TOO_LARGE', `Too large: ${what}`, detailsOf(answer));
  if (status >= 502 && status <= 504) {
    return new ManagementError('UNAVAILABLE', `The service is unavailable: ${what}`, detailsOf(answer));
  }
  return new ManagementError('BAD_ANSWER', `${what}. Check baseUrl.`, detailsOf(answer));
}

const detailsOf = ({ status, headers }: HttpAnswer) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  retryAfterSeconds: parseRetryAfter(headers.get('retry-after')),
});

function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Parses JSON; undefined if the text is malformed. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
