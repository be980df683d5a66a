import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { TextField } from '../../ui/field.tsx';
import { Card, FieldPair } from '../../ui/page.tsx';
import type { PolicyPartProps } from './policy-form.tsx';
import { suggestedCode } from './policy-values.ts';

interface NameCardProps extends PolicyPartProps {
  readonly suggestsCode: boolean;
}

export function NameCard({ values, set, error, suggestsCode }: NameCardProps) {
  const [follows, setFollows] = useState(suggestsCode);
  return (
    <Card title="Policy">
      <FieldPair>
        <TextField
          label="Name"
          hint="What you call it, such as “Pro, one year”. Customers do not see it."
          required
          maxLength={100}
          value={values.name}
          onChange={(name) => set(follows ? { name, code: suggestedCode(name) } : { name })}
          error={issueFor(error, 'name')}
        />
        <TextField
          label="Code"
          hint="Names it for your programs: a-z 0-9 _ . - and unique within the application."
          mono
          required
          maxLength={64}
          pattern="[a-z0-9_.\-]+"
          title="1 to 64 of the characters a-z 0-9 _ . -"
          spellCheck={false}
          autoCapitalize="none"
          value={values.code}
          onChange={(code) => {
            setFollows(code === '' && suggestsCode);
            set({ code });
          }}
          error={issueFor(error, 'code')}
        />
      </FieldPair>
    </Card>
  );
}
