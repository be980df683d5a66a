import {
  GraphQLError,
  getOperationAST,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { z } from 'zod';
import { StreamInterrupted } from '../services/security-log/follower-stream.ts';
import { admits } from './accept.ts';
import type { Answer } from './answer.ts';

const eventStream = 'text/event-stream';

/**
 * Refuses a subscription that does not accept an event stream. Yoga would open the stream, never close it, and answer 406
 * without a body.
 */
export const requireEventStream: Plugin = {
  onValidate: ({ addValidationRule }) => addValidationRule(requireRootField),
  onSubscribe: ({ args, setResultAndStopExecution }) => {
    const request = z.object({ request: z.instanceof(Request) }).safeParse(args.contextValue).data?.request;
    if (request !== undefined && admits(request.headers.get('accept') ?? '*/*', [eventStream])) return;
    const name = getOperationAST(args.document, args.operationName)?.name?.value;
    const message = `${name === undefined ? 'This' : name} is a subscription: ask for it with Accept: ${eventStream}.`;
    const extensions = { code: 'NOT_ACCEPTABLE', http: { status: 406 } };
    setResultAndStopExecution({ errors: [createGraphQLError(message, { extensions })] });
  },
};

/**
 * A subscription has exactly one root field. GraphQL's validation counts the fields in the document, but a directive
 * could leave that one out.
 */
const requireRootField: ValidationRule = (context) => ({
  OperationDefinition: (operation) => {
    if (operation.operation !== 'subscription') return;
    for (const selection of rootSelections(context, operation.selectionSet)) {
      const directive = selection.directives?.find(({ name }) => /^(skip|include)$/.test(name.value));
      if (directive === undefined) continue;
      const message = `@${directive.name.value} cannot stand at the root of a subscription, which has one field.`;
      context.reportError(new GraphQLError(message, { nodes: directive }));
    }
  },
});

/** All selections at the root, including those of fragments, each fragment once. */
function rootSelections(context: ValidationContext, root: SelectionSetNode): readonly SelectionNode[] {
  const found: SelectionNode[] = [];
  const spread = new Set<string>();
  const waiting = [root];
  for (let set = waiting.pop(); set !== undefined; set = waiting.pop()) {
    for (const selection of set.selections) {
      found.push(selection);
      if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD || spread.has(selection.name.value)) continue;
      spread.add(selection.name.value);
      const fragment = context.getFragment(selection.name.value);
      if (fragment) waiting.push(fragment.selectionSet);
    }
  }
  return found;
}

/**
 * Closes the connection in the middle of the answer when a stream is interrupted. Clients of graphql-sse take `complete`
 * for the end, and so do some clients of server-sent events with any clean end; all of them resume a broken connection.
 * @param breakOff closes the connection
 */
export function breakOffWhenInterrupted<Item>(
  items: AsyncIterableIterator<Item>,
  breakOff: () => void,
): AsyncIterableIterator<Item> {
  let leave = (_end: IteratorResult<Item>): void => {};
  const left = new Promise<IteratorResult<Item>>((resolve) => {
    leave = resolve;
  });
  return {
    next: async () => {
      try {
        return await items.next();
      } catch (error) {
        if (!(error instanceof StreamInterrupted)) throw error;
        breakOff();
        // Nothing more may be written. The transport calls `return` when it notices that the connection is closed.
        return left;
      }
    },
    return: async () => {
      leave({ done: true, value: undefined });
      return (await items.return?.()) ?? { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Sets the headers of an event stream so that proxies neither store nor buffer it. Yoga also sets `Connection`, which
 * the server must decide because it closes connections when it stops, and the content coding `none`, which does not exist.
 */
export function unbuffered(answer: Answer): Answer {
  if (!answer.headers.get('content-type')?.startsWith(eventStream)) return answer;
  answer.headers.set('Cache-Control', 'no-store');
  answer.headers.set('X-Accel-Buffering', 'no');
  answer.headers.delete('Content-Encoding');
  answer.headers.delete('Connection');
  return answer;
}
