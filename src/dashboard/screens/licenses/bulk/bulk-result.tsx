import { Button } from '../../../ui/button.tsx';
import { csvLine, plainCell } from '../../../ui/csv.ts';
import { download, fileName } from '../../../ui/download.ts';
import { numberText } from '../../../ui/format.ts';
import { ButtonRow, Notice } from '../../../ui/page.tsx';
import { SimpleTable } from '../../../ui/simple-table.tsx';
import { Status } from '../../../ui/status.tsx';
import { Dim, Mono } from '../../../ui/text.tsx';
import type { BulkAct } from './acts.ts';
import styles from './bulk.module.css';
import type { BulkOutcome } from './send-bulk.ts';
import { isUnreached, meaningOf } from './skip-codes.ts';

/** Longer results are read in the file. */
const shownResults = 100;

interface BulkResultProps {
  readonly act: BulkAct;
  readonly outcome: BulkOutcome;
}

/** What a run did to each license; those that were skipped come first. */
export function BulkResult({ act, outcome }: BulkResultProps) {
  const unreached = outcome.results.filter(({ code }) => isUnreached(code)).length;
  const results = [...outcome.results].sort(
    (one, other) => Number(one.outcome === 'changed') - Number(other.outcome === 'changed'),
  );
  const save = () =>
    download(fileName('licenses', act.kind), [
      csvLine(['id', 'prefix', 'outcome', 'code', 'meaning']),
      ...outcome.results.map(({ id, keyPrefix, outcome: result, code }) =>
        csvLine([id, plainCell(keyPrefix ?? ''), result, code, code ? meaningOf(code, act.kind) : '']),
      ),
    ]);
  return (
    <>
      <p role="status">
        <strong>{numberText(outcome.changed)}</strong> {act.done}
        {outcome.skipped > 0 && <>, {numberText(outcome.skipped)} skipped</>}.
      </p>
      {unreached > 0 && (
        <Notice>
          {numberText(unreached)} {unreached === 1 ? 'license was' : 'licenses were'} not reached. Continue
          the run: what is done already is not done twice.
        </Notice>
      )}
      <div className={styles.results}>
        <SimpleTable
          label="Result of each license"
          rows={results.slice(0, shownResults)}
          keyOf={({ id }) => id}
          columns={[
            { header: 'Key', cell: ({ id, keyPrefix }) => <Mono>{keyPrefix ? `${keyPrefix}…` : id}</Mono> },
            {
              header: 'Result',
              cell: ({ outcome: result }) =>
                result === 'changed' ? (
                  <Status tone="ok">Changed</Status>
                ) : (
                  <Status tone="idle">Skipped</Status>
                ),
            },
            {
              header: 'Why',
              cell: ({ code }) =>
                code && (
                  <>
                    {meaningOf(code, act.kind)} <Dim>{code}</Dim>
                  </>
                ),
            },
          ]}
        />
      </div>
      <ButtonRow>
        <Button onClick={save}>Download as CSV</Button>
        {results.length > shownResults && (
          <Dim>
            The first {shownResults} of {numberText(results.length)} are shown; the file has all.
          </Dim>
        )}
      </ButtonRow>
    </>
  );
}
