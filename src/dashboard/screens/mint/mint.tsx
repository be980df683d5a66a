import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useDeveloper } from '../../shell/session.ts';
import { LeaveGuard } from '../../ui/leave-guard.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { useVaultKey } from '../../vault/unlocked.ts';
import { termsInput } from './draft.ts';
import { MintForm } from './mint-form.tsx';
import { LeaveDialog, MintedKeys } from './minted-keys.tsx';
import { type MintedKey, useMint } from './use-mint.ts';
import { useMintPolicies } from './use-mint-policies.ts';

const from = '/shell/applications/$applicationId/mint';

/** Mints keys of one application; another application is another form. */
export function Mint() {
  const { applicationId } = useParams({ from });
  return <MintOf key={applicationId} applicationId={applicationId} />;
}

function MintOf({ applicationId }: { readonly applicationId: string }) {
  const { policy: policyId } = useSearch({ from });
  const { keyCreationMode, licenseMask } = useDeveloper();
  const { name, policies } = useMintPolicies(applicationId);
  const vaultKey = useVaultKey();
  const isPrivate = keyCreationMode === 'private';
  const [minted, setMinted] = useState<readonly MintedKey[] | null>(null);
  const [isKept, setIsKept] = useState(false);
  const { mint, isBusy, error } = useMint((keys) => {
    setIsKept(false);
    setMinted(keys);
  });
  const isAtRisk = isBusy || (minted !== null && !isKept);
  return (
    <>
      {minted === null ? (
        <>
          <PageHeader title="Mint keys" sub={name} />
          <MintForm
            policies={policies}
            policyId={policyId}
            accountMask={licenseMask ?? null}
            isPrivate={isPrivate}
            isBusy={isBusy}
            error={error}
            onMint={(draft, policy, mask) =>
              mint({
                terms: termsInput(applicationId, draft, policy),
                amount: Number(draft.amount),
                note: draft.note.trim(),
                privately: isPrivate ? { mask, vaultKey } : null,
              })
            }
          />
        </>
      ) : (
        <MintedKeys
          applicationId={applicationId}
          applicationName={name}
          keys={minted}
          isPrivate={isPrivate}
          isKept={isKept}
          onKept={() => setIsKept(true)}
          onMore={() => setMinted(null)}
        />
      )}
      <LeaveGuard isActive={isAtRisk} Question={LeaveDialog} />
    </>
  );
}
