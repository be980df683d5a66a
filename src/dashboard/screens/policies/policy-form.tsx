import { type FormEvent, type ReactNode, useState } from 'react';
import { EntitlementsField } from '../../terms/entitlements-field.tsx';
import { MetadataFields } from '../../terms/metadata-fields.tsx';
import { Card, Columns, Problem, Stack } from '../../ui/page.tsx';
import { DevicesCard } from './devices-card.tsx';
import { KeyMaskField } from './key-mask-field.tsx';
import { NameCard } from './name-card.tsx';
import { isComplete, type PolicyValues } from './policy-values.ts';
import { ProgramCard } from './program-card.tsx';
import { TermCard } from './term-card.tsx';

/** What each card of the form gets. */
export interface PolicyPartProps {
  readonly values: PolicyValues;
  readonly set: (change: Partial<PolicyValues>) => void;
  /** Of the last attempt to save. */
  readonly error: unknown;
}

interface PolicyFormProps extends PolicyPartProps {
  /** Whether the code follows the name until it is typed. */
  readonly suggestsCode?: boolean;
  readonly onSubmit: () => void;
  /** Buttons, below the fields. */
  readonly actions: ReactNode;
}

/** The form of a policy, new or changed. */
export function PolicyForm({ suggestsCode = false, onSubmit, actions, ...part }: PolicyFormProps) {
  const { values, set, error } = part;
  const [showsIssues, setShowsIssues] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setShowsIssues(!isComplete(values));
    if (isComplete(values)) onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Problem error={error} />}
        <Columns>
          <Stack>
            <NameCard {...part} suggestsCode={suggestsCode} />
            <TermCard {...part} />
            <DevicesCard {...part} />
            <Card title="What is included">
              <EntitlementsField
                rows={values.entitlements}
                onChange={(entitlements) => set({ entitlements })}
                error={error}
                showsIssues={showsIssues}
              />
            </Card>
          </Stack>
          <Stack>
            <Card title="When you save">
              <p>
                A policy's values are copied to a license when it is created. Saving changes no license: use
                “Apply to licenses…” to copy the values to licenses that exist.
              </p>
            </Card>
            <ProgramCard {...part} />
            <Card title="Keys">
              <KeyMaskField {...part} />
            </Card>
            <Card title="Metadata">
              <Stack>
                <MetadataFields
                  rows={values.metadata}
                  onChange={(metadata) => set({ metadata })}
                  error={error}
                  showsIssues={showsIssues}
                />
              </Stack>
            </Card>
          </Stack>
        </Columns>
      </Stack>
      {actions}
    </form>
  );
}
