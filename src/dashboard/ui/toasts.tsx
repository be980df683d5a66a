import { lazy, Suspense } from 'react';
import { connectToasts, useWantsToasts } from './toast.ts';

const ToastViewport = lazy(() =>
  import('./toast-viewport.tsx').then(({ ToastViewport }) => ({ default: ToastViewport })),
);

/** The place of messages; there is one, at the root. */
export const Toasts = () =>
  useWantsToasts() && (
    <Suspense>
      <ToastViewport onReady={connectToasts} />
    </Suspense>
  );
