import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
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
  return useMutation<Result, ApiError, Variables>({
    mutationFn: (variables) => confirmed(() => sendChange(document, variables)),
    onSuccess: (result, variables) => {
      onDone?.(result, variables);
      void client.invalidateQueries();
    },
  });
}
