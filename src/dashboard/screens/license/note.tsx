import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useDeveloper } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Dim } from '../../ui/text.tsx';
import { UnlockDialog } from '../../vault/unlock-dialog.tsx';
import { useVaultKey } from '../../vault/unlocked.ts';
import { open } from '../../vault/vault-key.ts';
import styles from './license.module.css';
import type { LicenseData } from './license-data.ts';
import { NoteForm } from './note-form.tsx';

/** The text of a sealed note: null if the open vault is not the one that it was sealed with. */
function useOpened(sealed: string | null, key: CryptoKey | null) {
  const isReadable = sealed !== null && key !== null;
  const { data } = useQuery({
    // A key has no text by which the cache could name it; a page has one vault at a time.
    queryKey: ['OpenedNote', sealed, key !== null],
    queryFn: () => (isReadable ? open(key, sealed) : null),
    enabled: isReadable,
    gcTime: 0,
  });
  return isReadable ? data : undefined;
}

/** The vendor's note, readable or sealed in the browser. */
export function Note({ license }: { readonly license: LicenseData }) {
  const { keyCreationMode } = useDeveloper();
  const key = useVaultKey();
  const [isEditing, setIsEditing] = useState(false);
  const [isUnlocking, setIsUnlocking] = useState(false);
  const sealed = license.noteCiphertextB64 ?? null;
  const opened = useOpened(sealed, key);
  const isSealed = keyCreationMode === 'private' || sealed !== null;
  const text = sealed === null ? (license.note ?? '') : (opened ?? '');
  const isForeign = sealed !== null && opened === null;
  const needsKey = isSealed && key === null;
  const label = isForeign ? 'Replace' : text === '' ? 'Add a note' : 'Edit';
  return (
    <Card
      title="Note"
      aside={
        !isEditing &&
        (needsKey ? (
          <Button small onClick={() => setIsUnlocking(true)}>
            Unlock
          </Button>
        ) : (
          <Button small onClick={() => setIsEditing(true)}>
            {label}
          </Button>
        ))
      }
    >
      {isEditing && !needsKey ? (
        <NoteForm
          license={license}
          text={text}
          vaultKey={isSealed ? key : null}
          onClose={() => setIsEditing(false)}
        />
      ) : (
        <NoteText
          text={text}
          isLocked={sealed !== null && key === null}
          isForeign={isForeign}
          needsKey={needsKey}
        />
      )}
      <Suspense>{isUnlocking && <UnlockDialog onClose={() => setIsUnlocking(false)} />}</Suspense>
    </Card>
  );
}

interface NoteTextProps {
  readonly text: string;
  readonly isLocked: boolean;
  readonly isForeign: boolean;
  readonly needsKey: boolean;
}

function NoteText({ text, isLocked, isForeign, needsKey }: NoteTextProps) {
  if (isForeign) {
    return (
      <Dim>This note was encrypted with another vault, so yours cannot open it. You can replace it.</Dim>
    );
  }
  if (isLocked) return <Dim>Encrypted. Unlock your vault to read it.</Dim>;
  if (text !== '') return <p className={styles.note}>{text}</p>;
  return <Dim>{needsKey ? 'No note. Unlock your vault to write one.' : 'No note.'}</Dim>;
}
