import type { TypedDocumentString } from '../generated/graphql.ts';
import { openStream } from './open-stream.ts';

export type StreamState = 'connecting' | 'live' | 'paused' | 'interrupted';

interface FollowOptions<Result, Variables> {
  readonly document: TypedDocumentString<Result, Variables>;
  /** @param after the id of the last item; null at first, and when the service no longer has it */
  readonly variables: (after: string | null) => Variables;
  readonly idOf: (result: Result) => string;
  onNext(result: Result): void;
  /** The stream starts now: what happened before may have been missed. */
  onGap(): void;
  onState(state: StreamState): void;
}

/** A browser has six connections to a service for all of its tabs, so tabs in the background give theirs back. */
const hiddenMilliseconds = 3_000;
const longestWait = 30_000;

/** The service refuses a stream after it was opened. One that lasts so long was not refused. */
const refusalMilliseconds = 300;

/** Only a stream that lasts ends the growth of the waits: a service that ends each at once is not asked all the time. */
const steadyMilliseconds = 10_000;

/**
 * Follows a subscription for as long as the page is visible. It reconnects after interruptions, each time after a longer
 * wait, and resumes after the last item.
 * @returns stops following
 */
export function follow<Result, Variables>(options: FollowOptions<Result, Variables>): () => void {
  let after: string | null = null;
  let failures = 0;
  let close: (() => void) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let accepted: ReturnType<typeof setTimeout> | undefined;
  let steady: ReturnType<typeof setTimeout> | undefined;

  const open = () => {
    const resumed = after !== null;
    options.onState('connecting');
    close = openStream(options.document, options.variables(after), {
      onOpen: () => {
        steady = setTimeout(() => {
          failures = 0;
        }, steadyMilliseconds);
        accepted = setTimeout(() => {
          options.onState('live');
          if (!resumed) options.onGap();
        }, refusalMilliseconds);
      },
      onNext: (result) => {
        after = options.idOf(result);
        options.onNext(result);
      },
      onEnd: (code) => {
        close = null;
        clearTimeout(steady);
        clearTimeout(accepted);
        if (code !== 'UNREACHABLE') after = null;
        options.onState('interrupted');
        // Reading again shows whether the session has ended or belongs to another developer.
        if (code === 'UNAUTHENTICATED') options.onGap();
        failures += 1;
        timer = setTimeout(open, Math.min(longestWait, 250 * 2 ** failures) * (0.5 + Math.random() / 2));
      },
    });
  };
  const stop = () => {
    for (const each of [timer, accepted, steady]) clearTimeout(each);
    close?.();
    close = null;
  };
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') {
      if (close === null) open();
    } else {
      timer = setTimeout(() => {
        stop();
        options.onState('paused');
      }, hiddenMilliseconds);
    }
  };
  document.addEventListener('visibilitychange', onVisibility);
  // A tab that was opened in the background begins when it is looked at.
  if (document.visibilityState === 'visible') open();
  else options.onState('paused');
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    stop();
  };
}
