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
import { StreamInterrupted } from '../services/security-log/follow.ts';
import { admits } from './accept.ts';
import type { Answer } from './answer.ts';

const eventStream = 'text/event-stream';

/**
 * Refuses a subscription whose answer could not be sent: before its stream is opened, as nobody would ever close it,
 * and with words, where Yoga answers 406 without a body.
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
 * A subscription has exactly one field at its root. GraphQL's own validation counts the fields that are written there;
 * what a directive then leaves out would leave none.
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

/** Every selection at the root, through the fragments that are spread there, each fragment once. */
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
 * Breaks the connection off where a stream is interrupted. `complete` would be the end to standard clients of
 * graphql-sse, and some clients of server-sent events take any end in order for one; what breaks off they all resume.
 * @param breakOff ends the connection as it stands
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
        // Nothing more is to be written: the transport calls `return` when it notices that the connection is gone.
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
 * Has the answer reach its reader as it is written: proxies neither keep it nor gather it up. `Connection` is the
 * server's to say, which closes connections when it stops; and there is no content coding named `none`.
 */
export function unbuffered(answer: Answer): Answer {
  if (!answer.headers.get('content-type')?.startsWith(eventStream)) return answer;
  answer.headers.set('Cache-Control', 'no-store');
  answer.headers.set('X-Accel-Buffering', 'no');
  answer.headers.delete('Content-Encoding');
  answer.headers.delete('Connection');
  return answer;
}
