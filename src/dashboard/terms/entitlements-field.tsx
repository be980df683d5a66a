import { ValueEditor } from './value-editor.tsx';
import type { ValueRow } from './value-rows.ts';

interface EntitlementsFieldProps {
  readonly rows: readonly ValueRow[];
  readonly onChange: (rows: readonly ValueRow[]) => void;
  readonly error?: unknown;
  /** Where they are in the input. */
  readonly path?: readonly string[];
  readonly showsIssues?: boolean;
}

export const EntitlementsField = ({ path = ['entitlements'], ...rest }: EntitlementsFieldProps) => (
  <ValueEditor
    {...rest}
    label="Entitlements"
    hint="What the license includes, for your program to read. Part of the signed answer and of leases. Codes: a-z 0-9 _ . -"
    nameLabel="Code"
    addLabel="Add entitlement"
    path={path}
  />
);
