import { issueFor } from '../api/issue-for.ts';
import { DurationField } from '../ui/duration-field.tsx';
import { SelectField } from '../ui/field.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { FieldPair } from '../ui/page.tsx';

export interface MovesValue {
  readonly count: number | null;
  readonly periodSeconds: number;
}

interface MovesFieldProps {
  /** Null: any number of moves. */
  readonly value: MovesValue | null;
  readonly onChange: (value: MovesValue | null) => void;
  readonly error?: unknown;
}

const suggested: MovesValue = { count: 3, periodSeconds: 31_536_000 };

/** How often a customer may move devices. */
export const MovesField = ({ value, onChange, error }: MovesFieldProps) => (
  <>
    <SelectField
      label="Moves"
      hint="How often a customer may move or release a device. What changes nothing costs nothing."
      value={value === null ? 'any' : 'limited'}
      options={[
        { value: 'any', label: 'Any number' },
        { value: 'limited', label: 'A number in a period' },
      ]}
      onChange={(chosen) => onChange(chosen === 'any' ? null : (value ?? suggested))}
      error={value === null ? issueFor(error, 'moves') : null}
    />
    {value !== null && (
      <FieldPair>
        <NumberField
          label="Number of moves"
          min={1}
          max={100}
          value={value.count}
          onChange={(count) => onChange({ ...value, count })}
          error={issueFor(error, 'moves', 'count')}
        />
        <DurationField
          label="In any period of"
          value={value.periodSeconds}
          onChange={(periodSeconds) => onChange({ ...value, periodSeconds })}
          error={issueFor(error, 'moves', 'periodSeconds')}
        />
      </FieldPair>
    )}
  </>
);
