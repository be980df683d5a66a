import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { download, fileName } from '../../ui/download.ts';
import { countText, numberText } from '../../ui/format.ts';
import { Problem } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { logCsvHeader, logCsvLine } from './log-csv.ts';
import { type LogQuery, mostExported, readAllEntries } from './read-all.ts';

interface ExportDialogProps {
  readonly applicationName: string;
  readonly log: LogQuery;
  /** How many match, as far as it is known. */
  readonly total: number;
  readonly onClose: () => void;
}

type State =
  | { readonly step: 'ready' }
  | { readonly step: 'reading'; readonly done: number; readonly total: number }
  | { readonly step: 'done'; readonly count: number }
  | { readonly step: 'failed'; readonly error: unknown };

/** Downloads the entries that match as CSV. */
export function ExportDialog({ applicationName, log, total, onClose }: ExportDialogProps) {
  const [state, setState] = useState<State>({ step: 'ready' });
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    reading.current = controller;
    const parts = [logCsvHeader];
    let done = 0;
    setState({ step: 'reading', done, total });
    try {
      for await (const page of readAllEntries(log, controller.signal)) {
        parts.push(page.rows.map(logCsvLine).join(''));
        done += page.rows.length;
        setState({ step: 'reading', done, total });
      }
      download(fileName(applicationName, 'log'), parts);
      setState({ step: 'done', count: done });
    } catch (error) {
      if (!controller.signal.aborted) setState({ step: 'failed', error });
    }
  };
  const isReading = state.step === 'reading';
  return (
    <Dialog
      title="Export log"
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
          {countText(total)} {total === 1 ? 'entry matches' : 'entries match'}. The file has a line for each,
          newest first: its id, time, event, verdict, license, user, device, address, actor and metadata. It
          has at most {numberText(mostExported)} lines: set a time filter for older ones.
        </p>
      )}
      {isReading && <Progress label="Entries read" done={state.done} total={state.total} />}
      {state.step === 'done' && (
        <p role="status">
          Downloaded {numberText(state.count)} {state.count === 1 ? 'entry' : 'entries'}.
          {state.count >= mostExported && ' There are older ones: set a time filter to export them.'}
        </p>
      )}
      {state.step === 'failed' && <Problem error={state.error} />}
    </Dialog>
  );
}
