import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { TypedDocumentString } from '../generated/graphql.ts';
import type { ApiError } from './api-error.ts';
import { useConfirmation } from './confirmation.ts';
import { sendChange } from './send-change.ts';

interface ChangeOptions<Result, Variables> {
  onDone?(result: Result, variables: Variables): void;
}

/**
 * A mutation for a button or a form. It asks for the password where the service requires a confirmation, and afterwards
 * reads what is on the screen again.
 */
export function useChange<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  { onDone }: ChangeOptions<Result, Variables> = {},
): UseMutationResult<Result, ApiError, Variables> {
  const client = useQueryClient();
  const confirmed = useConfirmation();
  const running = useRef(new Map<string, Promise<Result>>());
  return useMutation<Result, ApiError, Variables>({
    // A second click can come before the button is busy: it gets the answer to the first one.
    mutationFn: (variables) => {
      const asked = JSON.stringify(variables);
      const earlier = running.current.get(asked);
      if (earlier !== undefined) return earlier;
      const result = confirmed(() => sendChange(document, variables)).finally(() =>
        running.current.delete(asked),
      );
      running.current.set(asked, result);
      return result;
    },
    onSuccess: (result, variables) => {
      onDone?.(result, variables);
      void client.invalidateQueries();
    },
  });
}
