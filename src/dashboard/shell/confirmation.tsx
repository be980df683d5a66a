import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from 'react';
import { ApiError } from '../api/api-error.ts';
import { Confirmation, type Confirmed } from '../api/confirmation.ts';

const ConfirmationDialog = lazy(() =>
  import('./confirmation-dialog.tsx').then(({ ConfirmationDialog }) => ({ default: ConfirmationDialog })),
);

const needsConfirmation = (thrown: unknown): boolean =>
  thrown instanceof ApiError && thrown.code === 'CONFIRMATION_REQUIRED';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: ApiError) => void;
}

/** Asks for the password, once for all acts that wait for it. */
export function ConfirmationProvider({ children }: { readonly children: ReactNode }) {
  const [isAsking, setIsAsking] = useState(false);
  const waiting = useRef<Waiting[]>([]);
  const confirmed = useCallback<Confirmed>(async (act) => {
    try {
      return await act();
    } catch (thrown) {
      if (!needsConfirmation(thrown)) throw thrown;
    }
    setIsAsking(true);
    await new Promise<void>((resolve, reject) => waiting.current.push({ resolve, reject }));
    return await act();
  }, []);
  const settle = (settleOne: (one: Waiting) => void) => {
    setIsAsking(false);
    for (const one of waiting.current.splice(0)) settleOne(one);
  };
  return (
    <Confirmation value={confirmed}>
      {children}
      {isAsking && (
        <Suspense>
          <ConfirmationDialog
            onConfirmed={() => settle(({ resolve }) => resolve())}
            onClose={() =>
              settle(({ reject }) =>
                reject(new ApiError('CANCELLED', 'Nothing was changed: it was not confirmed.')),
              )
            }
          />
        </Suspense>
      )}
    </Confirmation>
  );
}
