import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { download, fileName } from '../ui/download.ts';
import { Problem } from '../ui/page.tsx';
import { Progress } from '../ui/progress.tsx';
import type { Page } from './page.ts';

interface ExportDialogProps<Row> {
  readonly title: string;
  /** Such as "Licenses read". */
  readonly progressLabel: string;
  /** The parts of the file's name, before the day. */
  readonly fileNameParts: readonly string[];
  /** How many rows there will be, as far as it is known. */
  readonly total: number;
  readonly header: string;
  readonly lineOf: (row: Row) => string;
  readonly read: (signal: AbortSignal) => AsyncIterable<Page<Row>>;
  /** What will be in the file. */
  readonly children: ReactNode;
  /** What is said after the download of so many rows. */
  readonly doneText: (count: number) => string;
  readonly onClose: () => void;
}

type State =
  | { readonly step: 'ready' }
  | { readonly step: 'reading'; readonly done: number }
  | { readonly step: 'done'; readonly count: number }
  | { readonly step: 'failed'; readonly error: unknown };

/** Downloads the rows that match as CSV. */
export function ExportDialog<Row>(props: ExportDialogProps<Row>) {
  const { title, progressLabel, fileNameParts, total, header, lineOf, read, children, doneText, onClose } =
    props;
  const [state, setState] = useState<State>({ step: 'ready' });
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    reading.current = controller;
    const parts = [header];
    let done = 0;
    setState({ step: 'reading', done });
    try {
      for await (const page of read(controller.signal)) {
        parts.push(page.rows.map(lineOf).join(''));
        done += page.rows.length;
        setState({ step: 'reading', done });
      }
      download(fileName(...fileNameParts), parts);
      setState({ step: 'done', count: done });
    } catch (error) {
      if (!controller.signal.aborted) setState({ step: 'failed', error });
    }
  };
  const isReading = state.step === 'reading';
  return (
    <Dialog
      title={title}
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
      {state.step === 'ready' && <p>{children}</p>}
      {isReading && <Progress label={progressLabel} done={state.done} total={total} />}
      {state.step === 'done' && <p role="status">{doneText(state.count)}</p>}
      {state.step === 'failed' && <Problem error={state.error} />}
    </Dialog>
  );
}
