import { useMemo } from 'react';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/page.tsx';
import { Mono } from '../../ui/text.tsx';
import { keyOf, maskProblem, randomBits } from '../../vault/private-keys.ts';

/** Keys with less could be guessed by someone with a stolen database and enough time. */
const recommendedBits = 64;

interface MaskFieldProps {
  readonly value: string;
  /** The mask that applies if none is given. */
  readonly inherited: string;
  readonly error: string | null;
  readonly onChange: (mask: string) => void;
}

/** The pattern of the keys, with an example, which is not a key of anything. */
export function MaskField({ value, inherited, error, onChange }: MaskFieldProps) {
  const mask = value === '' ? inherited : value;
  const example = useMemo(() => (maskProblem(mask) === null ? keyOf(mask) : null), [mask]);
  const bits = randomBits(mask);
  return (
    <>
      <TextField
        label="Mask of the keys"
        mono
        maxLength={128}
        placeholder={inherited}
        autoComplete="off"
        spellCheck={false}
        hint={
          <>
            Each X becomes a random letter or digit.{' '}
            {example && (
              <>
                Example: <Mono>{example}</Mono>
              </>
            )}
          </>
        }
        value={value}
        error={error}
        onChange={onChange}
      />
      {example !== null && bits < recommendedBits && (
        <Notice>
          Keys of this mask have {bits} random bits. Use at least 13 X for {recommendedBits} or more: shorter
          keys are easier to guess.
        </Notice>
      )}
    </>
  );
}
