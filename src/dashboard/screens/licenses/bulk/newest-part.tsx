import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { numberText } from '../../../ui/format.ts';
import { Progress } from '../../../ui/progress.tsx';
import { tellError } from '../../../ui/toast.tsx';
import { type LicenseQuery, readAllLicenses } from '../read-all.ts';

/** The most that the service changes in one run. */
const largestRun = 10_000;

interface NewestPartProps {
  readonly licenses: LicenseQuery;
  readonly onReady: (ids: readonly string[]) => void;
}

/** Of more licenses than one run may have, takes those that were minted last. */
export function NewestPart({ licenses, onReady }: NewestPartProps) {
  const [done, setDone] = useState<number | null>(null);
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const read = async () => {
    const controller = new AbortController();
    reading.current = controller;
    const ids: string[] = [];
    setDone(0);
    try {
      for await (const { rows } of readAllLicenses(licenses, controller.signal)) {
        ids.push(...rows.map(({ id }) => id));
        setDone(ids.length);
        if (ids.length >= largestRun) break;
      }
      onReady(ids.slice(0, largestRun));
    } catch (thrown) {
      setDone(null);
      if (!controller.signal.aborted) tellError(thrown);
    }
  };
  if (done !== null) return <Progress label="Licenses read" done={done} total={largestRun} />;
  return (
    <div>
      <Button onClick={read}>Take the newest {numberText(largestRun)}</Button>
    </div>
  );
}
