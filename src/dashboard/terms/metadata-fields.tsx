import { ValueEditor } from './value-editor.tsx';
import type { MetadataRows } from './value-rows.ts';

interface MetadataFieldsProps {
  readonly rows: MetadataRows;
  readonly onChange: (rows: MetadataRows) => void;
  readonly error?: unknown;
  /** Where it is in the input. */
  readonly path?: readonly string[];
  readonly showsIssues?: boolean;
}

/** Public and private metadata, one below the other. */
export const MetadataFields = ({ rows, onChange, path = ['metadata'], ...rest }: MetadataFieldsProps) => (
  <>
    <ValueEditor
      {...rest}
      label="Public"
      hint="Part of the signed answers: your program, and so your customer, can read it."
      nameLabel="Name"
      addLabel="Add public value"
      rows={rows.client}
      onChange={(client) => onChange({ ...rows, client })}
      path={[...path, 'client']}
    />
    <ValueEditor
      {...rest}
      label="Private"
      hint="For you, such as an order number. It never leaves for client software."
      nameLabel="Name"
      addLabel="Add private value"
      rows={rows.private}
      onChange={(own) => onChange({ ...rows, private: own })}
      path={[...path, 'private']}
    />
  </>
);
