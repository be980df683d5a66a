import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useConfirmation } from '../../api/confirmation.ts';
import { present } from '../../api/present.ts';
import { isPassing } from '../../api/query-client.ts';
import { randomId } from '../../api/random-id.ts';
import { sendChange } from '../../api/send-change.ts';
import { graphql } from '../../generated/gql.ts';
import { createPrivateKeys } from '../../vault/private-keys.ts';
import { seal } from '../../vault/vault-key.ts';
import type { MintTerms } from './draft.ts';

const MintKeys = graphql(`
  mutation MintKeys($input: CreateLicensesInput!) {
    createLicenses(input: $input) {
      keys {
        id
        licenseKey
      }
    }
  }
`);

const MintPrivateKeys = graphql(`
  mutation MintPrivateKeys($input: CreateBlindLicensesInput!) {
    createBlindLicenses(input: $input) {
      keys {
        id
      }
    }
  }
`);

export interface MintedKey {
  readonly id: string;
  readonly licenseKey: string;
}

export interface MintOrder {
  readonly terms: MintTerms;
  readonly amount: number;
  readonly note: string;
  /** In private mode: the mask, from which keys are created here, and the key that seals notes. */
  readonly privately: { readonly mask: string; readonly vaultKey: CryptoKey | null } | null;
}

type Send = () => Promise<readonly MintedKey[]>;

const mintThere = ({ terms, amount, note }: MintOrder): Send => {
  const runId = randomId();
  const input = { ...terms, amount, ...(note !== '' && { note }) };
  return async () => present((await sendChange(MintKeys, { input }, runId)).createLicenses).keys;
};

async function mintHere(
  { terms, amount, note }: MintOrder,
  { mask, vaultKey }: NonNullable<MintOrder['privately']>,
): Promise<Send> {
  const runId = randomId();
  const created = await createPrivateKeys(mask, amount);
  const keys = await Promise.all(
    created.map(async ({ licenseKeyHash, licenseKeyPrefix }) => ({
      licenseKeyHash,
      licenseKeyPrefix,
      ...(note !== '' && vaultKey !== null && { noteCiphertextB64: await seal(vaultKey, note) }),
    })),
  );
  const input = { ...terms, mask, keys };
  return async () => {
    const stored = present((await sendChange(MintPrivateKeys, { input }, runId)).createBlindLicenses).keys;
    return stored.map(({ id }, index) => ({ id, licenseKey: created[index]?.licenseKey ?? '' }));
  };
}

/**
 * Mints keys. They are not in the cache of mutations, which `useChange` would put them into. If the answer is lost for
 * longer than the retries, the same order is sent with the same Idempotency-Key, and in private mode with the same keys.
 */
export function useMint(onMinted: (keys: readonly MintedKey[]) => void) {
  const client = useQueryClient();
  const confirmed = useConfirmation();
  const pending = useRef<{ readonly asked: string; readonly send: Send }>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const mint = async (order: MintOrder) => {
    const asked = JSON.stringify(order);
    setIsBusy(true);
    setError(null);
    try {
      const send =
        pending.current?.asked === asked
          ? pending.current.send
          : order.privately === null
            ? mintThere(order)
            : await mintHere(order, order.privately);
      pending.current = { asked, send };
      const keys = await confirmed(send);
      pending.current = null;
      onMinted(keys);
      void client.invalidateQueries();
    } catch (thrown) {
      if (!isPassing(thrown)) pending.current = null;
      setError(thrown);
    } finally {
      setIsBusy(false);
    }
  };
  return { mint, isBusy, error };
}
