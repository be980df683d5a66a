import { issueFor } from '../../api/issue-for.ts';
import { useDeveloper } from '../../shell/session.ts';
import { exampleKey, serviceMask } from '../../terms/key-mask.ts';
import { TextField } from '../../ui/field.tsx';
import { Mono } from '../../ui/text.tsx';
import type { PolicyPartProps } from './policy-form.tsx';

/** The pattern of the license keys, with a key that could come of it. */
export function KeyMaskField({ values, set, error }: PolicyPartProps) {
  const { licenseMask } = useDeveloper();
  const inherited = licenseMask ?? serviceMask;
  const mask = values.keyMask.trim() || inherited;
  const letters = mask.split('X').length - 1;
  return (
    <TextField
      label="Key mask"
      mono
      maxLength={128}
      placeholder={inherited}
      spellCheck={false}
      autoCapitalize="characters"
      value={values.keyMask}
      onChange={(keyMask) => set({ keyMask })}
      error={issueFor(error, 'keyMask') ?? (letters < 8 ? 'At least 8 X are needed.' : null)}
      hint={
        <>
          Each X becomes a random character; 13 or more are recommended. Empty: the account's mask. Example:{' '}
          <Mono>{exampleKey(mask)}</Mono>
        </>
      }
    />
  );
}
