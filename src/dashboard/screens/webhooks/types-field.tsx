import { ChoiceField } from '../../ui/choice-field.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Mono } from '../../ui/text.tsx';
import { eventGroups, everyType, patternOf } from './event-types.ts';
import styles from './webhooks.module.css';

interface TypesFieldProps {
  /** Types and patterns, as the service takes them. */
  readonly value: readonly string[];
  readonly onChange: (types: readonly string[]) => void;
  readonly error: string | null;
}

/** Which events are sent: all, or what is chosen. */
export function TypesField({ value, onChange, error }: TypesFieldProps) {
  const isEvery = value.includes(everyType);
  return (
    <>
      <ChoiceField
        label="Events"
        value={isEvery ? 'every' : 'chosen'}
        onChange={(next) => onChange(next === 'every' ? [everyType] : [patternOf('license')])}
        error={error !== null && value.length === 0 ? 'Choose at least one below.' : error}
        options={[
          { value: 'every', label: 'All events', hint: 'Also types that later versions of Latchkey add.' },
          { value: 'chosen', label: 'Only what you choose' },
        ]}
      />
      {!isEvery && (
        <div className={styles.types}>
          {eventGroups.map((group) => (
            <TypeGroup key={group.name} {...group} value={value} onChange={onChange} />
          ))}
        </div>
      )}
    </>
  );
}

interface TypeGroupProps extends Omit<TypesFieldProps, 'error'> {
  readonly name: string;
  readonly types: readonly string[];
}

/** All events about one kind of thing, or some of them. */
function TypeGroup({ name, types, value, onChange }: TypeGroupProps) {
  const pattern = patternOf(name);
  const isWhole = value.includes(pattern);
  const without = (gone: readonly string[]) => value.filter((type) => !gone.includes(type));
  const toggleGroup = (isOn: boolean) =>
    onChange(isOn ? [...without(types), pattern] : without([pattern, ...types]));
  const toggle = (type: string, isOn: boolean) => onChange(isOn ? [...value, type] : without([type]));
  const chosen = types.filter((type) => value.includes(type)).length;
  return (
    <div className={styles.group}>
      <CheckField label={<Mono>{pattern}</Mono>} checked={isWhole} onChange={toggleGroup} />
      <details open={chosen > 0 || undefined}>
        <summary>
          {chosen > 0
            ? `${chosen} of ${types.length}`
            : types.length === 1
              ? '1 type'
              : `${types.length} types`}
        </summary>
        <div className={styles.singles}>
          {types.map((type) => (
            <CheckField
              key={type}
              label={<Mono>{type}</Mono>}
              checked={isWhole || value.includes(type)}
              disabled={isWhole}
              onChange={(isOn) => toggle(type, isOn)}
            />
          ))}
        </div>
      </details>
    </div>
  );
}
