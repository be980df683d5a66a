import { issueFor } from '../../api/issue-for.ts';
import type { MintDraft, MintProblems } from './draft.ts';
import { MaskField } from './mask-field.tsx';
import styles from './mint.module.css';
import { ValueRowsField } from './value-rows-field.tsx';

interface AdvancedFieldsProps {
  readonly draft: MintDraft;
  readonly inheritedMask: string;
  readonly problems: MintProblems;
  readonly error: unknown;
  readonly onChange: (change: Partial<MintDraft>) => void;
}

/** What most vendors leave as it is. */
export const AdvancedFields = ({ draft, inheritedMask, problems, error, onChange }: AdvancedFieldsProps) => (
  <details className={styles.advanced}>
    <summary>Advanced: mask, entitlements and metadata</summary>
    <div className={styles.fields}>
      <MaskField
        value={draft.mask}
        inherited={inheritedMask}
        error={problems.mask ?? issueFor(error, 'mask')}
        onChange={(mask) => onChange({ mask })}
      />
      <ValueRowsField
        label="Entitlements"
        hint="What a license includes, for your program to read, such as seats or export.pdf."
        one="entitlement"
        rows={draft.entitlements}
        error={issueFor(error, 'entitlements')}
        onChange={(entitlements) => onChange({ entitlements })}
      />
      <ValueRowsField
        label="Metadata for the program"
        hint="Inside the signed answers: customers can read it."
        one="entry"
        rows={draft.publicMetadata}
        error={issueFor(error, 'metadata', 'client')}
        onChange={(publicMetadata) => onChange({ publicMetadata })}
      />
      <ValueRowsField
        label="Metadata for you"
        hint="Only here and in your shop, such as an order number."
        one="private entry"
        rows={draft.privateMetadata}
        error={issueFor(error, 'metadata', 'private') ?? null}
        onChange={(privateMetadata) => onChange({ privateMetadata })}
      />
    </div>
  </details>
);
