import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { download, fileName } from '../../ui/download.ts';
import { numberText } from '../../ui/format.ts';
import { Problem } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { licenseCsvHeader, licenseCsvLine } from './license-csv.ts';
import { type LicenseQuery, readAllLicenses } from './read-all.ts';

interface ExportDialogProps {
  readonly applicationName: string;
  readonly licenses: LicenseQuery;
  /** How many match, as far as it is known. */
  readonly total: number;
  readonly onClose: () => void;
}

type State =
  | { readonly step: 'ready' }
  | { readonly step: 'reading'; readonly done: number; readonly total: number }
  | { readonly step: 'done'; readonly count: number }
  | { readonly step: 'failed'; readonly error: unknown };

/** Downloads the licenses that match as CSV. Keys are not in it: nobody knows them any more. */
export function ExportDialog({ applicationName, licenses, total, onClose }: ExportDialogProps) {
  const [state, setState] = useState<State>({ step: 'ready' });
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    reading.current = controller;
    const parts = [licenseCsvHeader];
    let done = 0;
    setState({ step: 'reading', done, total });
    try {
      for await (const page of readAllLicenses(licenses, controller.signal)) {
        parts.push(page.rows.map(licenseCsvLine).join(''));
        done += page.rows.length;
        setState({ step: 'reading', done, total });
      }
      download(fileName(applicationName, 'licenses'), parts);
      setState({ step: 'done', count: done });
    } catch (error) {
      if (!controller.signal.aborted) setState({ step: 'failed', error });
    }
  };
  const isReading = state.step === 'reading';
  return (
    <Dialog
      title="Export licenses"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{state.step === 'done' ? 'Close' : 'Cancel'}</Button>
          {state.step !== 'done' && (
            <Button look="primary" busy={isReading} onClick={start}>
              {isReading ? 'Reading…' : state.step === 'failed' ? 'Start again' : 'Download CSV'}
            </Button>
          )}
        </>
      }
    >
      {state.step === 'ready' && (
        <p>
          {numberText(total)} {total === 1 ? 'license matches' : 'licenses match'}. The file has a line for
          each: its id, prefix, status, tier, devices, times, tags, policy and note. It has no keys, because
          the service does not know them.
        </p>
      )}
      {isReading && <Progress label="Licenses read" done={state.done} total={state.total} />}
      {state.step === 'done' && (
        <p role="status">
          Downloaded {numberText(state.count)} {state.count === 1 ? 'license' : 'licenses'}.
        </p>
      )}
      {state.step === 'failed' && <Problem error={state.error} />}
    </Dialog>
  );
}
