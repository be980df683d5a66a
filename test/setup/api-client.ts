import { randomInt } from 'node:crypto';
import { z } from 'zod';

/** A complete response. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON, or as text if it is not JSON. */
  readonly body: unknown;
}

export interface ApiClientOptions {
  readonly cookie?: string;
  readonly bearer?: string;
  /** The client's address; a separate one by default. */
  readonly ip?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of the REST interface, as an integrator would write one, without any code of the service. */
export class ApiClient {
  readonly baseUrl: string;
  readonly ip: string;
  readonly #options: ApiClientOptions;

  constructor(baseUrl: string, options: ApiClientOptions = {}) {
    this.baseUrl = baseUrl;
    this.ip = options.ip ?? randomIp();
    this.#options = options;
  }

  /** The same client with other credentials or headers. */
  with(options: ApiClientOptions): ApiClient {
    return new ApiClient(this.baseUrl, { ip: this.ip, ...this.#options, ...options });
  }

  get(path: string): Promise<ApiAnswer> {
    return this.send('GET', path);
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.send('DELETE', path);
  }

  /** Sends a body as JSON; a string is sent unchanged. */
  post(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.send('POST', path, body);
  }

  patch(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.send('PATCH', path, body);
  }

  async send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const response = await this.open(method, path, body);
    return { status: response.status, headers: response.headers, body: parse(await response.text()) };
  }

  /** Sends a request and leaves the body of the response unread. */
  open(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const { cookie, bearer, headers } = this.#options;
    return fetch(this.baseUrl + path, {
      method,
      ...(signal !== undefined && { signal }),
      headers: {
        'X-Forwarded-For': this.ip,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(cookie !== undefined && { Cookie: `service_session=${cookie}` }),
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A random address of 10.0.0.0/8, so that no other test is likely to use it. */
export function randomIp(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;
}

/** The value of the session cookie that a response sets; undefined if it sets none. */
export function cookieOf(answer: ApiAnswer): string | undefined {
  for (const header of answer.headers.getSetCookie()) {
    const value = /^service_session=([^;]*)/.exec(header)?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The body of an error response. */
export const failureBody = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  issues: z
    .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
    .optional(),
  requestId: z.string().optional(),
});
