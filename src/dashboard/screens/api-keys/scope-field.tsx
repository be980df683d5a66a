import { ChoiceField } from '../../ui/choice-field.tsx';
import { CheckField } from '../../ui/field.tsx';
import styles from './api-keys.module.css';
import { type Access, groupsOf } from './scopes.ts';

export interface Grant {
  readonly access: Access;
  /** What is chosen; counts only with the access `chosen`. */
  readonly scopes: readonly string[];
}

interface ScopeFieldProps {
  readonly value: Grant;
  readonly onChange: (grant: Grant) => void;
  readonly applicationId: string | null;
  /** A key that exists gets the scopes of today; a new one may get those of later versions too. */
  readonly isNew: boolean;
  readonly error: string | null;
}

/** What a key may do: everything, reading, or what is chosen. */
export function ScopeField({ value, onChange, applicationId, isNew, error }: ScopeFieldProps) {
  const { access, scopes } = value;
  const toggle = (scope: string, isOn: boolean) =>
    onChange({
      access,
      scopes: isOn ? [...scopes, scope] : scopes.filter((candidate) => candidate !== scope),
    });
  return (
    <>
      <ChoiceField
        label="What it may do"
        value={access}
        onChange={(next) => onChange({ access: next, scopes })}
        error={error}
        options={[
          {
            value: 'everything',
            label: 'Everything',
            hint: isNew && applicationId === null ? 'Also what later versions of Latchkey add.' : undefined,
          },
          { value: 'read', label: 'Read only', hint: 'It sees everything and changes nothing.' },
          { value: 'chosen', label: 'Only what you choose', hint: 'Best: a leaked key then opens little.' },
        ]}
      />
      {access === 'chosen' && (
        <div className={styles.scopes}>
          {groupsOf(applicationId).map((group) => (
            <fieldset key={group.name} className={styles.scopeGroup}>
              <legend>{group.name}</legend>
              {group.scopes.map(({ scope, label }) => (
                <CheckField
                  key={scope}
                  label={label}
                  checked={scopes.includes(scope)}
                  onChange={(isOn) => toggle(scope, isOn)}
                />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </>
  );
}
