import { type FormEvent, useMemo, useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ButtonRow, Card, FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { defaultMask, keyOf, maskProblem, randomBits } from '../../vault/private-keys.ts';
import styles from './key-creation.module.css';

const KeyCreationSetMask = graphql(`
  mutation KeyCreationSetMask($input: SetLicenseMaskInput!) {
    setLicenseMask(input: $input) {
      account {
        id
        licenseMask
      }
    }
  }
`);

/** The service warns of fewer. */
const recommendedBits = 64;

interface MaskCardProps {
  /** Null: the service's default applies. */
  readonly current: string | null;
}

/** The pattern of keys that are minted without another one. Keys that exist stay as they are. */
export function MaskCard({ current }: MaskCardProps) {
  const saved = current ?? defaultMask;
  const [draft, setDraft] = useState<string | null>(null);
  const mask = draft ?? saved;
  const [round, setRound] = useState(0);
  const problem = maskProblem(mask);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round is another example.
  const example = useMemo(() => (maskProblem(mask) === null ? keyOf(mask) : null), [mask, round]);
  const change = useChange(KeyCreationSetMask, { onDone: () => tell('The mask was changed.') });
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (problem === null) change.mutate({ input: { mask: mask === defaultMask ? null : mask } });
  };
  const reset = () => {
    setDraft(defaultMask);
    if (current !== null) change.mutate({ input: { mask: null } });
  };
  const isWeak = problem === null && randomBits(mask) < recommendedBits;
  return (
    <Card title="Default mask">
      <form onSubmit={save}>
        <FormStack>
          {change.error && issueFor(change.error, 'mask') === null && <Problem error={change.error} />}
          <TextField
            label="Mask"
            hint="Each X becomes a random letter or digit, without 0, O, 1 and I. All else stays, such as PRO-XXXXX-XXXXX-XXXXX. Policies and mints can have their own."
            mono
            required
            spellCheck={false}
            autoComplete="off"
            maxLength={128}
            value={mask}
            onChange={setDraft}
            error={problem ?? issueFor(change.error, 'mask')}
          />
          <div className={styles.example}>
            <span className={styles.dim}>Example</span>
            <output className={styles.key}>{example ?? '–'}</output>
            <Button small look="quiet" onClick={() => setRound(round + 1)}>
              Another
            </Button>
          </div>
          {isWeak && (
            <p className={styles.text}>
              {randomBits(mask)} random bits per key. With a stolen database and enough time, somebody could
              guess such keys: 13 X or more are recommended.
            </p>
          )}
          <ButtonRow>
            <Button
              type="submit"
              look="primary"
              disabled={mask === saved || problem !== null}
              busy={change.isPending}
            >
              Save mask
            </Button>
            <Button
              disabled={current === null && mask === defaultMask}
              busy={change.isPending}
              onClick={reset}
            >
              Reset to the default
            </Button>
          </ButtonRow>
        </FormStack>
      </form>
    </Card>
  );
}
