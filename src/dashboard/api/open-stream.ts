import type { TypedDocumentString } from '../generated/graphql.ts';
import { errorOf } from './api-error.ts';
import { graphqlUrl } from './paths.ts';

interface StreamHandlers<Result> {
  onOpen(): void;
  onNext(result: Result): void;
  /** The stream has ended: with a code of the service, or UNREACHABLE. */
  onEnd(code: string): void;
}

/**
 * Opens a subscription as an event stream (one GraphQL result per `next` event).
 * @returns closes the stream
 */
export function openStream<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { onOpen, onNext, onEnd }: StreamHandlers<Result>,
): () => void {
  const url = new URL(graphqlUrl);
  url.searchParams.set('query', document.toString());
  url.searchParams.set('variables', JSON.stringify(variables));
  const source = new EventSource(url);
  const end = (code: string) => {
    source.close();
    onEnd(code);
  };
  source.addEventListener('open', onOpen);
  source.addEventListener('next', ({ data }: MessageEvent<string>) => {
    const result: unknown = JSON.parse(data);
    const error = errorOf(result, 200);
    if (error !== null) end(error.code);
    // Generated from the schema that the service answers by.
    else onNext((result as { data: Result }).data);
  });
  source.addEventListener('complete', () => end('UNREACHABLE'));
  // The browser would reconnect with the same URL, and so with an outdated `after`.
  source.addEventListener('error', () => end('UNREACHABLE'));
  return () => source.close();
}
