import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { BulkOrder } from './acts.ts';
import { type BulkTarget, sendBulk } from './send-bulk.ts';

/** How long a pause in typing is before the preview is made. */
const pauseMilliseconds = 350;

interface PreviewOptions {
  readonly applicationId: string;
  readonly order: BulkOrder | null;
  readonly target: BulkTarget;
  /** Names the target, which can be 10,000 ids. */
  readonly targetName: string;
  readonly isOn: boolean;
}

/** What an order would do, asked again whenever the order changes. */
export function usePreview({ applicationId, order, target, targetName, isOn }: PreviewOptions) {
  const asked = JSON.stringify(order);
  const [settled, setSettled] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(asked), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [asked]);
  const isSettled = settled === asked;
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['BulkPreview', targetName, order] as const,
    queryFn: () => {
      if (order === null) throw new Error('There is nothing to preview.');
      return sendBulk({ applicationId, order, target, dryRun: true });
    },
    enabled: isOn && order !== null && isSettled,
    // While a parameter is changed, the last preview stays in sight; that of other licenses does not.
    placeholderData: (previous, query) => (query?.queryKey[1] === targetName ? previous : undefined),
    // It is of one moment, and can be long.
    gcTime: 0,
    retry: false,
  });
  return {
    preview: order === null ? undefined : data,
    error: order === null ? null : error,
    // While it is only read again, it stays good: a click that comes just then must not be lost.
    isCurrent: isSettled && !isPlaceholderData && data !== undefined,
  };
}
