import { type FormEvent, useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { TextAreaField } from '../../ui/field.tsx';
import { ButtonRow, FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { seal } from '../../vault/vault-key.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseUpdateNote = graphql(`
  mutation LicenseUpdateNote($input: UpdateLicenseInput!) {
    updateLicense(input: $input) {
      license {
        id
      }
    }
  }
`);

interface NoteFormProps extends DialogProps {
  readonly license: LicenseData;
  readonly text: string;
  /** Set if the note is sealed before it is sent. */
  readonly vaultKey: CryptoKey | null;
}

/** What is sent: the readable note, or the sealed one in place of it. */
async function noteInput(text: string, vaultKey: CryptoKey | null, hadNote: boolean) {
  const note = text.trim() === '' ? null : text.trim();
  if (vaultKey === null) return { note };
  const noteCiphertextB64 = note === null ? null : await seal(vaultKey, note);
  return { noteCiphertextB64, ...(hadNote && { note: null }) };
}

export function NoteForm({ license, text, vaultKey, onClose }: NoteFormProps) {
  const [draft, setDraft] = useState(text);
  const [problem, setProblem] = useState<unknown>(null);
  const { mutateAsync, isPending } = useChange(LicenseUpdateNote);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    try {
      const note = await noteInput(draft, vaultKey, Boolean(license.note));
      await mutateAsync({ input: { id: license.id, ...note } });
      tell('Note saved');
      onClose();
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  const issue = issueFor(problem, 'note') ?? issueFor(problem, 'noteCiphertextB64');
  return (
    <form onSubmit={submit}>
      <FormStack>
        {problem !== null && issue === null && <Problem error={problem} />}
        <TextAreaField
          label="Note"
          hint={vaultKey ? 'Encrypted in this browser before it is sent.' : 'Only you see it.'}
          maxLength={1000}
          autoFocus
          value={draft}
          onChange={setDraft}
          error={issue}
        />
        <ButtonRow>
          <Button small look="primary" type="submit" busy={isPending}>
            Save note
          </Button>
          <Button small onClick={onClose}>
            Cancel
          </Button>
        </ButtonRow>
      </FormStack>
    </form>
  );
}
