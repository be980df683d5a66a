import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { useDeveloper } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { FormStack, Notice, Problem } from '../../ui/page.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { createPrivateKeys, defaultMask } from '../../vault/private-keys.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseRotateKey = graphql(`
  mutation LicenseRotateKey($input: RotateLicenseKeyInput!) {
    rotateLicenseKey(input: $input) {
      licenseKey
    }
  }
`);

const overlaps = [
  { value: '0', label: 'Ends at once' },
  { value: '86400', label: 'Stays good for 1 day' },
  { value: '604800', label: 'Stays good for 7 days' },
  { value: '2592000', label: 'Stays good for 30 days' },
] as const;

/** In private mode the key is created here, and the service gets its hash and its first letters. */
async function privateKey(mask: string) {
  const [created] = await createPrivateKeys(mask, 1);
  if (created === undefined) throw new Error('No key was created.');
  const { licenseKey, ...sent } = created;
  return { licenseKey, sent };
}

export function RotateDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const { keyCreationMode, licenseMask } = useDeveloper();
  const isPrivate = keyCreationMode === 'private';
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('604800');
  const [newKey, setNewKey] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const { mutateAsync, isPending } = useChange(LicenseRotateKey);
  const rotate = async () => {
    try {
      setProblem(null);
      const created = isPrivate ? await privateKey(licenseMask ?? defaultMask) : null;
      const input = { id: license.id, overlapSeconds: Number(overlap), ...created?.sent };
      const { rotateLicenseKey } = await mutateAsync({ input });
      setNewKey(rotateLicenseKey?.licenseKey ?? created?.licenseKey ?? null);
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) void rotate();
  };
  if (newKey !== null) {
    return (
      <SecretDialog title="The new license key" kind="key" secret={newKey} onClose={onClose}>
        <p>Give it to your customer.</p>
      </SecretDialog>
    );
  }
  // The key that is under way is shown once: it would be lost.
  const close = () => isPending || onClose();
  return (
    <Dialog
      title="Rotate key"
      onClose={close}
      footer={
        <>
          <Button disabled={isPending} onClick={close}>
            Cancel
          </Button>
          <Button look="primary" type="submit" form="rotate-key" busy={isPending}>
            Rotate key
          </Button>
        </>
      }
    >
      <form id="rotate-key" onSubmit={submit}>
        <FormStack>
          <p>
            The license gets a new key, which is shown once.
            {isPrivate && ' It is created in this browser: the service never sees it.'}
          </p>
          {problem !== null && <Problem error={problem} />}
          <SelectField
            label="The old key"
            hint="Never longer than until the expiry. For a key that was leaked, let it end at once."
            value={overlap}
            options={overlaps}
            onChange={setOverlap}
          />
          {overlap === '0' && <Notice>All earlier keys end too, and leases are revoked.</Notice>}
        </FormStack>
      </form>
    </Dialog>
  );
}
