import { hasPages, isPages, type Pages } from '../services/export-pages.ts';

/**
 * Streams a value as JSON, reading its lists page by page, so that no list is held in memory as a whole.
 * @param value a JSON value in which lists may be `Pages`, nested in objects at any depth
 * @param onError called when a list cannot be read to its end. It must close the connection: the text is incomplete by
 *   then, and the client has no other way to tell
 */
export function streamJson(
  value: object,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const text = textOf(value);
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value: piece } = await text.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(piece));
      } catch (error) {
        onError(error);
        controller.close();
      }
    },
    cancel: async () => {
      await text.return();
    },
  });
}

async function* textOf(value: object): AsyncGenerator<string, void> {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    yield `${before}${JSON.stringify(name)}:`;
    if (isPages(member)) yield* textOfPages(member);
    else if (hasPages(member)) yield* textOf(member);
    else yield JSON.stringify(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

async function* textOfPages(pages: Pages<unknown>): AsyncGenerator<string, void> {
  let before = '[';
  for await (const page of pages) {
    let text = '';
    for (const item of page) {
      text += before;
      before = ',';
      if (hasPages(item)) {
        yield text;
        text = '';
        yield* textOf(item);
      } else text += JSON.stringify(item);
    }
    if (text !== '') yield text;
  }
  yield before === '[' ? '[]' : ']';
}
