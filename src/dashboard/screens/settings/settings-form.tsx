import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { LeaveGuard } from '../../ui/leave-guard.tsx';
import { Problem, Stack } from '../../ui/page.tsx';
import { SaveBar, unsavedText } from '../../ui/save-bar.tsx';
import { tell } from '../../ui/toast.ts';
import { useDraft } from '../../ui/use-draft.ts';
import { AccessCard } from './access-card.tsx';
import { ConsequencesDialog, consequencesOf } from './consequences-dialog.tsx';
import { CustomersCard } from './customers-card.tsx';
import { LeasesCard } from './leases-card.tsx';
import { MessagesCard } from './messages-card.tsx';
import { changeOf, countOf, type SettingsValues } from './settings-data.ts';

const UpdateSettings = graphql(`
  mutation SettingsUpdate($input: UpdateApplicationSettingsInput!) {
    updateApplicationSettings(input: $input) {
      application {
        id
      }
    }
  }
`);

/** What each card of the form gets. */
export interface SettingsPartProps {
  readonly values: SettingsValues;
  readonly set: (change: Partial<SettingsValues>) => void;
  /** Of the last attempt to save. */
  readonly error: unknown;
}

interface SettingsFormProps {
  readonly applicationId: string;
  readonly current: SettingsValues;
}

export function SettingsForm({ applicationId, current }: SettingsFormProps) {
  const draft = useDraft(current);
  const [asks, setAsks] = useState(false);
  const change = changeOf(current, draft.value);
  const count = countOf(change);
  const consequences = consequencesOf(current, change);
  const update = useChange(UpdateSettings, {
    onDone: () => {
      draft.saved();
      tell('Settings saved');
    },
  });
  const save = () => {
    setAsks(false);
    update.mutate({ input: { id: applicationId, ...change } });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (count === 0) return;
    if (consequences.length > 0) setAsks(true);
    else save();
  };
  const part = { values: draft.value, set: draft.set, error: update.error };
  return (
    <form onSubmit={submit}>
      <Stack>
        {update.error && <Problem error={update.error} />}
        <AccessCard {...part} current={current} />
        <CustomersCard {...part} />
        <LeasesCard {...part} />
        <MessagesCard {...part} />
      </Stack>
      {count > 0 && (
        <SaveBar
          text={unsavedText(count)}
          busy={update.isPending}
          onDiscard={() => {
            draft.discard();
            update.reset();
          }}
        />
      )}
      {asks && (
        <ConsequencesDialog consequences={consequences} onConfirm={save} onClose={() => setAsks(false)} />
      )}
      <LeaveGuard isActive={count > 0} />
    </form>
  );
}
