import * as z from 'zod';
import { type AnsweredError, ManagementError } from './errors.ts';
import type { HttpAnswer } from './http.ts';

/** The data of an answer: its root fields, all of them there. */
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

/** A failure before GraphQL: a body too large, a route that is none. */
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

/** The data of an answer. @throws {ManagementError} for an answer that has errors, or is none of GraphQL */
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

/** The data of one event of a stream: an execution result in JSON. @throws {ManagementError} */
export function readEvent(text: string, { status, headers }: Omit<HttpAnswer, 'text'>): RootFields {
  return readAnswer({ status, headers, text });
}

function readResult({ data, errors = [] }: z.infer<typeof graphqlAnswer>, answer: HttpAnswer): RootFields {
  if (errors.length > 0) throw failureOf(errors, answer, data);
  const missing = Object.entries(data ?? {}).find(([, value]) => value === null)?.[0];
  if (data === null || data === undefined || missing !== undefined) {
    // What Present<Data> says of the types would not be so.
    const message = `The answer has no ${missing ?? 'data'}, and no error that says why`;
    throw new ManagementError('BAD_ANSWER', message, { ...detailsOf(answer), data });
  }
  return data;
}

function failureOf(errors: readonly AnsweredError[], answer: HttpAnswer, data?: unknown): ManagementError {
  const [first] = errors;
  const details = { ...detailsOf(answer), errors, data };
  return new ManagementError(first?.code ?? 'BAD_ANSWER', first?.message ?? 'The operation failed', details);
}

/** What a proxy says before or instead of the service, by its status. None of its text is repeated: it can be anything. */
function notGraphql(answer: HttpAnswer): ManagementError {
  const { status, headers, text } = answer;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  const what = `HTTP ${status} with ${text === '' ? 'an empty body' : type}, which is no answer of GraphQL`;
  if (status === 429)
    return new ManagementError('RATE_LIMITED', `Too many requests: ${what}`, detailsOf(answer));
  if (status === 413)
    return new ManagementError('PAYLOAD_TOO_LARGE', `Too large: ${what}`, detailsOf(answer));
  if (status >= 502 && status <= 504) {
    return new ManagementError('UNAVAILABLE', `The service is not available: ${what}`, detailsOf(answer));
  }
  return new ManagementError('BAD_ANSWER', `${what}. Is baseUrl the service's?`, detailsOf(answer));
}

const detailsOf = ({ status, headers }: HttpAnswer) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  retryAfterSeconds: parseRetryAfter(headers.get('retry-after')),
});

function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** What a JSON text says; undefined, which no JSON text says, for anything else. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
