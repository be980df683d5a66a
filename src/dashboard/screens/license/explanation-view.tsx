import { type FragmentType, readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseExplanationFragment, RuleOutcome, VerdictRule } from '../../generated/graphql.ts';
import { momentText } from '../../ui/format.ts';
import { CodeBadge } from '../../ui/status.tsx';
import { Dim } from '../../ui/text.tsx';
import type { Act } from './acts.ts';
import styles from './explain.module.css';
import type { Facts } from './explain-form.tsx';
import type { LicenseData } from './license-data.ts';
import { Remedies } from './remedies.tsx';

const LicenseExplanation = graphql(`
  fragment LicenseExplanation on Explanation {
    code
    success
    message
    note
    wouldActivate
    wouldBind
    rules {
      rule
      outcome
      because
    }
  }
`);

const ruleNames = {
  application_status: 'Application is active',
  application_version: 'Version is current',
  protocol_version: 'Protocol is accepted',
  ip_ban: 'Address is not banned',
  hwid_ban: 'Device is not banned',
  license_key: 'License exists',
  license_application: 'License is of this application',
  license_ban: 'License is not banned',
  suspension: 'License is not suspended',
  expiry: 'License has not expired',
  device_release: 'Device was not released',
  device_limit: 'Device has a place',
} as const satisfies Record<VerdictRule, string>;

const outcomes = {
  pass: { mark: '✓', label: 'pass' },
  fail: { mark: '✕', label: 'fail' },
  not_asked: { mark: '·', label: 'not asked' },
  not_reached: { mark: '·', label: 'not reached' },
} as const satisfies Record<RuleOutcome, { mark: string; label: string }>;

/** The service writes times as in its answers; here they are in the reader's time zone. */
const readableTimes = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (iso) => momentText(iso));

/** What the request would change, besides its verdict. */
function effectText({ wouldActivate, wouldBind }: LicenseExplanationFragment): string | null {
  if (wouldActivate && wouldBind) return 'It would start the term of the license, and bind the device.';
  if (wouldActivate) return 'It would start the term of the license.';
  return wouldBind ? 'It would bind the device.' : null;
}

interface ExplanationViewProps {
  readonly explanation: FragmentType<typeof LicenseExplanation>;
  readonly license: LicenseData;
  readonly question: { readonly [Name in keyof Facts]?: string | null | undefined };
  readonly onAct: (act: Act) => void;
  readonly onReinstate: () => void;
}

export function ExplanationView({
  explanation,
  license,
  question,
  onAct,
  onReinstate,
}: ExplanationViewProps) {
  const answer = readFragment(LicenseExplanation, explanation);
  const { code, success, message, note, rules } = answer;
  const effect = effectText(answer);
  return (
    <div className={styles.answer}>
      <p className={styles.verdict}>
        <CodeBadge code={code} />
        <strong>{success ? 'The client is accepted.' : 'The client is refused.'}</strong>
        <span>“{message}”</span>
      </p>
      {effect !== null && <p>{effect}</p>}
      {!success && (
        <Remedies code={code} license={license} question={question} onAct={onAct} onReinstate={onReinstate} />
      )}
      <ol className={styles.rules}>
        {rules.map(({ rule, outcome, because }) => (
          <li key={rule} data-outcome={outcome}>
            <span className={styles.mark} aria-hidden>
              {outcomes[outcome].mark}
            </span>
            <span className={styles.because}>
              {outcome === 'pass' || outcome === 'fail' ? readableTimes(because) : ruleNames[rule]}
            </span>
            <span className={styles.outcome}>
              {outcome === 'fail' ? <CodeBadge code={code} /> : outcomes[outcome].label}
            </span>
          </li>
        ))}
      </ol>
      {note && (
        <p>
          <Dim>{note}</Dim>
        </p>
      )}
    </div>
  );
}
