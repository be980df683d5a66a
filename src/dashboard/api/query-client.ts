import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api-error.ts';

/** Errors that may be gone a moment later. */
const passing: ReadonlySet<string> = new Set(['UNREACHABLE', 'UNAVAILABLE', 'TOO_MANY_READS']);

export const isPassing = (error: unknown): boolean => error instanceof ApiError && passing.has(error.code);

/** @param onSignedOut is called when the service no longer accepts the session */
export const createQueryClient = (onSignedOut: () => void): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        // Events say what has changed; this is for what has no event, such as the time of a last use.
        staleTime: 15_000,
        gcTime: 60_000,
        retry: (failures, error) => failures < 2 && isPassing(error),
        networkMode: 'always',
      },
      // What they sent and got has passwords, tokens and secrets, which are kept only while they are on the screen.
      mutations: { networkMode: 'always', gcTime: 0 },
    },
  });
