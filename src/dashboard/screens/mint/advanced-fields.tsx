import { issueFor } from '../../api/issue-for.ts';
import { EntitlementsField } from '../../terms/entitlements-field.tsx';
import { MetadataFields } from '../../terms/metadata-fields.tsx';
import type { MintDraft, MintProblems } from './draft.ts';
import { MaskField } from './mask-field.tsx';
import styles from './mint.module.css';

interface AdvancedFieldsProps {
  readonly draft: MintDraft;
  readonly inheritedMask: string;
  readonly problems: MintProblems;
  readonly error: unknown;
  /** Whether an attempt to mint was made, so that what is incomplete is said. */
  readonly showsIssues: boolean;
  readonly onChange: (change: Partial<MintDraft>) => void;
}

/** What most vendors leave as it is. */
export const AdvancedFields = ({
  draft,
  inheritedMask,
  problems,
  error,
  showsIssues,
  onChange,
}: AdvancedFieldsProps) => (
  <details className={styles.advanced}>
    <summary>Advanced: mask, entitlements and metadata</summary>
    <div className={styles.fields}>
      <MaskField
        value={draft.mask}
        inherited={inheritedMask}
        error={problems.mask ?? issueFor(error, 'mask')}
        onChange={(mask) => onChange({ mask })}
      />
      <EntitlementsField
        rows={draft.entitlements}
        error={error}
        showsIssues={showsIssues}
        onChange={(entitlements) => onChange({ entitlements })}
      />
      <fieldset className={styles.metadata}>
        <legend>Metadata</legend>
        <MetadataFields
          rows={draft.metadata}
          error={error}
          showsIssues={showsIssues}
          onChange={(metadata) => onChange({ metadata })}
        />
      </fieldset>
    </div>
  </details>
);
