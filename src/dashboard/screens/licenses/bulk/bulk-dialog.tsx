import { type FormEvent, useState } from 'react';
import { asApiError } from '../../../api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { numberText } from '../../../ui/format.ts';
import { Problem } from '../../../ui/page.tsx';
import { Dim } from '../../../ui/text.tsx';
import type { LicenseQuery } from '../read-all.ts';
import { usePolicies } from '../use-policies.ts';
import { type BulkAct, emptyDraft, isDangerous, orderOf } from './acts.ts';
import { BulkParams } from './bulk-params.tsx';
import { BulkPreview } from './bulk-preview.tsx';
import { BulkResult } from './bulk-result.tsx';
import { NewestPart } from './newest-part.tsx';
import type { BulkTarget } from './send-bulk.ts';
import { isUnreached } from './skip-codes.ts';
import { usePreview } from './use-preview.ts';
import { useRun } from './use-run.ts';

interface BulkDialogProps {
  readonly act: BulkAct;
  readonly target: BulkTarget;
  readonly applicationId: string;
  readonly licenses: LicenseQuery;
  readonly onClose: (isChanged: boolean) => void;
}

/** Changes many licenses: says what will happen, shows what the service would do, does it, and tells what was done. */
export function BulkDialog({ act, target: given, applicationId, licenses, onClose }: BulkDialogProps) {
  const policies = usePolicies(applicationId);
  const [draft, setDraft] = useState(emptyDraft);
  const [target, setTarget] = useState(given);
  const { outcome, error, isBusy, start, proceed } = useRun(applicationId);
  const order = orderOf(act.kind, draft);
  const isReady = outcome === null && error === null && !isBusy;
  const { preview, error: refusal, isCurrent } = usePreview(applicationId, order, target, isReady);
  const close = () => isBusy || onClose(outcome !== null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (order === null || preview === undefined || !isCurrent || preview.changed === 0) return;
    // The licenses of the preview: others that match meanwhile were not seen.
    void start(order, 'ids' in target ? target : { ids: preview.results.map(({ id }) => id) });
  };
  const isPartial = outcome?.results.some(({ code }) => isUnreached(code)) ?? false;
  return (
    <Dialog
      title={act.title}
      wide={outcome !== null}
      onClose={close}
      footer={
        <>
          {!isBusy && <Button onClick={close}>{outcome === null ? 'Cancel' : 'Close'}</Button>}
          {outcome === null && error === null && (
            <Button
              look={isDangerous(act.kind) ? 'danger' : 'primary'}
              type="submit"
              form="bulk"
              busy={isBusy}
              disabled={!isBusy && (!isCurrent || preview?.changed === 0)}
            >
              {isBusy
                ? 'Working…'
                : `${act.verb} ${preview && isCurrent ? numberText(preview.changed) : '…'} ${preview?.changed === 1 ? 'license' : 'licenses'}`}
            </Button>
          )}
          {(error !== null || isPartial) && (
            <Button look="primary" busy={isBusy} onClick={proceed}>
              {isBusy ? 'Working…' : error === null ? 'Continue' : 'Try again'}
            </Button>
          )}
        </>
      }
    >
      {outcome === null ? (
        <form id="bulk" onSubmit={submit}>
          <BulkParams kind={act.kind} draft={draft} policies={policies} onChange={setDraft} />
        </form>
      ) : (
        <BulkResult act={act} outcome={outcome} />
      )}
      {error !== null && <Problem error={error} />}
      {isBusy && (
        <Dim>Licenses are changed in small slices; thousands take a while. Keep this page open.</Dim>
      )}
      {isReady && preview && <BulkPreview kind={act.kind} preview={preview} isCurrent={isCurrent} />}
      {isReady && order !== null && !preview && !refusal && <Dim>Asking what would change…</Dim>}
      {isReady && refusal && <Problem error={refusal} />}
      {isReady && refusal && asApiError(refusal).code === 'TOO_MANY' && (
        <NewestPart licenses={licenses} onReady={(ids) => setTarget({ ids })} />
      )}
    </Dialog>
  );
}
