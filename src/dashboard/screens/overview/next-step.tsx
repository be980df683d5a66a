import { ButtonLink } from '../../ui/button.tsx';
import { FirstSteps } from '../applications/first-steps.tsx';
import { type History, validationsOf } from './history.ts';
import styles from './overview.module.css';

interface NextStepProps {
  readonly applicationId: string;
  readonly history: History;
}

/** What is missing before the first license check, for as long as no license was used. */
export function NextStep({ applicationId, history }: NextStepProps) {
  const { total, unused } = history.licenses;
  if (total > unused || validationsOf(history) > 0) return null;
  return (
    <div className={styles.next}>
      <FirstSteps current={total === 0 ? 2 : 3} />
      {total === 0 ? (
        <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }}>
          Mint a key
        </ButtonLink>
      ) : (
        <ButtonLink to="/applications/$applicationId/sdk" params={{ applicationId }}>
          Show the snippet
        </ButtonLink>
      )}
    </div>
  );
}
