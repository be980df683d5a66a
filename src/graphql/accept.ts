import { Answer } from './answer.ts';

const served = ['application/graphql-response+json', 'application/json', 'text/event-stream'];

/** Whether an Accept header admits one of these media types (RFC 9110 §12.5.1), in UTF-8. */
export function admits(accept: string, types: readonly string[]): boolean {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replace(/\s/g, '').split(';'))
    .some(
      ([range, ...parameters]) =>
        parameters.every((parameter) => !parameter.startsWith('charset=') || parameter === 'charset=utf-8') &&
        types.some((type) => range === type || range === `${type.split('/', 1)[0]}/*` || range === '*/*'),
    );
}

/**
 * The refusal of a request that accepts none of our media types; null for other requests. It comes before execution:
 * Yoga executes a mutation first and then answers 406 without a body, so keys that are shown only once would be lost.
 */
export function refuseUnacceptable({ method, headers }: Request): Answer | null {
  const accept = headers.get('accept') || '*/*';
  if (method === 'OPTIONS' || admits(accept, served)) return null;
  const message =
    'Answers are application/json or application/graphql-response+json, and those of subscriptions text/event-stream. Name one in the Accept header field, or leave it out.';
  return Answer.json({ errors: [{ message, extensions: { code: 'NOT_ACCEPTABLE' } }] }, 406);
}
