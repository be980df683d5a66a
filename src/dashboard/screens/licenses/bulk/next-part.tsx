import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { numberText } from '../../../ui/format.ts';
import { Progress } from '../../../ui/progress.tsx';
import { tellError } from '../../../ui/toast.ts';
import { type LicenseQuery, readAllLicenses } from '../read-all.ts';

/** The most that the service changes in one run. */
const largestRun = 10_000;

/** Licenses for one run, and the cursor after which others follow; null if there are none. */
export interface Part {
  readonly ids: readonly string[];
  readonly next: string | null;
}

interface NextPartProps {
  readonly licenses: LicenseQuery;
  /** The cursor after the part before; null for the first part. */
  readonly after: string | null;
  readonly onReady: (part: Part) => void;
}

/** Of more licenses than one run may have, takes as many as it may, the newest first. */
export function NextPart({ licenses, after, onReady }: NextPartProps) {
  const [done, setDone] = useState<number | null>(null);
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const read = async () => {
    const controller = new AbortController();
    reading.current = controller;
    const ids: string[] = [];
    let next: string | null = null;
    setDone(0);
    try {
      for await (const { rows, hasNextPage, endCursor } of readAllLicenses(
        licenses,
        controller.signal,
        after,
      )) {
        ids.push(...rows.map(({ id }) => id));
        setDone(ids.length);
        next = hasNextPage ? endCursor : null;
        if (ids.length + rows.length > largestRun) break;
      }
      setDone(null);
      onReady({ ids, next });
    } catch (thrown) {
      setDone(null);
      if (!controller.signal.aborted) tellError(thrown);
    }
  };
  if (done !== null) return <Progress label="Licenses read" done={done} total={largestRun} />;
  return (
    <div>
      <Button onClick={read}>
        Take the {after === null ? 'newest' : 'next'} {numberText(largestRun)}
      </Button>
    </div>
  );
}
