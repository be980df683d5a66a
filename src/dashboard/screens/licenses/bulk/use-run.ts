import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useConfirmation } from '../../../api/confirmation.ts';
import { randomId } from '../../../api/random-id.ts';
import type { BulkOrder } from './acts.ts';
import { type BulkOutcome, type BulkTarget, sendBulk } from './send-bulk.ts';

interface Run {
  readonly id: string;
  readonly order: BulkOrder;
  readonly target: BulkTarget;
}

/**
 * A run over many licenses. All its attempts have one Idempotency-Key, so that the service goes on where the last one has
 * stopped, and changes each license once.
 */
export function useRun(applicationId: string) {
  const client = useQueryClient();
  const confirmed = useConfirmation();
  const run = useRef<Run>(null);
  const [outcome, setOutcome] = useState<BulkOutcome | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const attempt = async () => {
    const current = run.current;
    if (current === null) return;
    setIsBusy(true);
    setError(null);
    try {
      const { id, ...what } = current;
      setOutcome(await confirmed(() => sendBulk({ applicationId, ...what, dryRun: false }, id)));
    } catch (thrown) {
      setError(thrown);
    } finally {
      setIsBusy(false);
      void client.invalidateQueries();
    }
  };
  return {
    outcome,
    error,
    isBusy,
    start: (order: BulkOrder, target: BulkTarget) => {
      run.current = { id: randomId(), order, target };
      return attempt();
    },
    /** Makes room for another run. */
    reset: () => {
      run.current = null;
      setOutcome(null);
    },
    /** Goes on after an attempt that failed, or did not reach all licenses. */
    proceed: attempt,
  };
}
