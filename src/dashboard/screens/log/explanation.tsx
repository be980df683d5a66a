import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { RuleOutcome, VerdictRule } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Loading, Problem } from '../../ui/page.tsx';
import { CodeBadge, Status, type Tone } from '../../ui/status.tsx';
import { Dim } from '../../ui/text.tsx';
import styles from './log.module.css';

const LogExplanation = graphql(`
  query LogExplanation($logEntryId: ID!) {
    explainLicense(logEntryId: $logEntryId) {
      code
      message
      note
      rules {
        rule
        outcome
        because
      }
    }
  }
`);

const outcomes = {
  fail: { tone: 'bad', label: 'Refuses' },
  pass: { tone: 'ok', label: 'Passes' },
  not_asked: { tone: 'idle', label: 'Not asked' },
  not_reached: { tone: 'idle', label: 'Not reached' },
} as const satisfies Record<RuleOutcome, { tone: Tone; label: string }>;

const ruleText = (rule: VerdictRule): string => {
  const words = rule.replaceAll('_', ' ').replace('hwid', 'device').replace('ip', 'address');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Says why a client was refused, or whether it still would be: the service asks its rules again, now. */
export function Explanation({ logEntryId }: { readonly logEntryId: string }) {
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, refetch } = useQuery({
    ...queryOf(LogExplanation, { logEntryId }, ['license', 'ban', 'application']),
    enabled: isAsked,
  });
  if (!isAsked) {
    return (
      <div>
        <Button onClick={() => setIsAsked(true)}>Explain this refusal</Button>
      </div>
    );
  }
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  const explanation = data?.explainLicense;
  if (!explanation) return <Loading />;
  return (
    <section className={styles.explanation} aria-label="Explanation">
      <p>
        The same request now gets <CodeBadge code={explanation.code} /> “{explanation.message}”
      </p>
      {explanation.note && (
        <p>
          <Dim>{explanation.note}</Dim>
        </p>
      )}
      <ul className={styles.rules} aria-label="Rules">
        {explanation.rules.map(({ rule, outcome, because }) => (
          <li key={rule}>
            <span>
              <Status tone={outcomes[outcome].tone}>{outcomes[outcome].label}</Status>
            </span>
            <span>
              {ruleText(rule)}
              {because !== '' && (
                <>
                  {': '}
                  {because}
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
