/** A body as Yoga makes it: JSON or a page as text, events as a stream. */
type Body = string | ReadableStream | null;

/**
 * What Yoga makes its answers with. A `Response` would put a text into a stream, from which the transport would have to
 * read it again; this one holds it as it is.
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
