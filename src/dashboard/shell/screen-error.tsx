import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { asApiError } from '../api/api-error.ts';
import { Problem } from '../ui/page.tsx';
import { NotFound } from './not-found.tsx';

/** Shown in the place of a screen that could not be read. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const queries = useQueryErrorResetBoundary();
  if (asApiError(error).code.endsWith('_NOT_FOUND')) return <NotFound />;
  const retry = () => {
    queries.reset();
    reset();
    void router.invalidate();
  };
  return <Problem error={error} onRetry={retry} />;
}
