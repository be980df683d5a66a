/** A body as Yoga makes it: text, or a stream of events. */
type Body = string | ReadableStream | null;

/**
 * Yoga builds this instead of a `Response`, which would wrap a text in a stream that the transport would have to read
 * again.
 */
export class Answer {
  readonly body: Body;
  readonly status: number;
  readonly headers: Headers;

  constructor(body: Body = null, { status = 200, headers }: ResponseInit = {}) {
    this.body = body;
    this.status = status;
    this.headers = new Headers(headers);
  }

  static json(body: object, status: number): Answer {
    return new Answer(JSON.stringify(body), {
      status,
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
    });
  }
}
