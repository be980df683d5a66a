/** One problem with an input: the member names from the input's root, and what is wrong. */
export interface InputIssue {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Why the service did not do what was asked. `code` is one of the API's error codes, or UNREACHABLE if there was no
 * answer: then it is unknown whether a change was made.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly issues: readonly InputIssue[];

  constructor(code: string, message: string, issues: readonly InputIssue[] = []) {
    super(message);
    this.code = code;
    this.issues = issues;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function issueOf(value: unknown): InputIssue[] {
  if (!isRecord(value) || !Array.isArray(value.path)) return [];
  // Issues of a mutation begin at its one argument, `input`.
  const path = value.path.map(String).filter((name, index) => index > 0 || name !== 'input');
  return [{ path, message: textOf(value.message) ?? 'is not valid' }];
}

/** Reads the first error of a GraphQL answer, or of a REST answer that was given before GraphQL. */
export function errorOf(body: unknown, status: number): ApiError | null {
  if (isRecord(body) && Array.isArray(body.errors) && isRecord(body.errors[0])) {
    const [{ message, extensions }] = body.errors;
    const details = isRecord(extensions) ? extensions : {};
    const issues = Array.isArray(details.issues) ? details.issues.flatMap(issueOf) : [];
    return new ApiError(textOf(details.code) ?? 'INTERNAL', textOf(message) ?? 'Something failed.', issues);
  }
  if (isRecord(body) && isRecord(body.data)) return null;
  const code = isRecord(body) ? textOf(body.code) : undefined;
  const message = isRecord(body) ? (textOf(body.message) ?? textOf(body.error)) : undefined;
  return new ApiError(code ?? 'UNREACHABLE', message ?? `The service answered with status ${status}.`);
}

/** The error to show for anything that was thrown. */
export const asApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError
    ? thrown
    : new ApiError('INTERNAL', thrown instanceof Error ? thrown.message : 'Something failed.');
