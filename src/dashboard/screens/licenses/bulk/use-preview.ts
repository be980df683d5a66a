import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { BulkOrder } from './acts.ts';
import { type BulkTarget, sendBulk } from './send-bulk.ts';

/** How long a pause in typing is before the preview is made. */
const pauseMilliseconds = 350;

/** What an order would do, asked again whenever the order changes. */
export function usePreview(
  applicationId: string,
  order: BulkOrder | null,
  target: BulkTarget,
  isOn: boolean,
) {
  const asked = JSON.stringify(order);
  const [settled, setSettled] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(asked), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [asked]);
  const isSettled = settled === asked;
  const { data, error, isFetching } = useQuery({
    queryKey: ['BulkPreview', applicationId, order, target],
    queryFn: () => {
      if (order === null) throw new Error('There is nothing to preview.');
      return sendBulk({ applicationId, order, target, dryRun: true });
    },
    enabled: isOn && order !== null && isSettled,
    placeholderData: keepPreviousData,
    // It is of one moment, and can be long.
    gcTime: 0,
    retry: false,
  });
  return {
    preview: order === null ? undefined : data,
    error: order === null ? null : error,
    isCurrent: isSettled && !isFetching && data !== undefined,
  };
}
