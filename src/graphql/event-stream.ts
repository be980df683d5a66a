import { getOperationAST } from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { z } from 'zod';

const eventStream = 'text/event-stream';

/**
 * Refuses a subscription whose answer could not be sent: before its stream is opened, as nobody would ever close it,
 * and with words, where Yoga answers 406 without a body.
 */
export const requireEventStream: Plugin = {
  onSubscribe: ({ args, setResultAndStopExecution }) => {
    const request = z.object({ request: z.instanceof(Request) }).safeParse(args.contextValue).data?.request;
    if (request !== undefined && acceptsEventStream(request.headers.get('accept'))) return;
    const name = getOperationAST(args.document, args.operationName)?.name?.value;
    const message = `${name === undefined ? 'This' : name} is a subscription: ask for it with Accept: ${eventStream}.`;
    const extensions = { code: 'NOT_ACCEPTABLE', http: { status: 406 } };
    setResultAndStopExecution({ errors: [createGraphQLError(message, { extensions })] });
  },
};

/** Whether a media range of the header field admits an event stream (RFC 9110 §12.5.1). Without the field all do. */
function acceptsEventStream(accept: string | null): boolean {
  const ranges = (accept ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  return ranges.some((range) => range === eventStream || range === 'text/*' || range === '*/*');
}

/**
 * Has the answer reach its reader as it is written: proxies neither keep it nor gather it up. `Connection` is the
 * server's to say, which closes connections when it stops; and there is no content coding named `none`.
 */
export function unbuffered(response: Response): Response {
  if (!response.headers.get('content-type')?.startsWith(eventStream)) return response;
  response.headers.set('Cache-Control', 'no-store');
  response.headers.set('X-Accel-Buffering', 'no');
  response.headers.delete('Content-Encoding');
  response.headers.delete('Connection');
  return response;
}
