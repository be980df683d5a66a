import type { FormEvent, ReactNode } from 'react';
import { FormStack } from '../../ui/page.tsx';

interface SubmitFormProps {
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form in a card. */
export function SubmitForm({ onSubmit, children }: SubmitFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <FormStack>{children}</FormStack>
    </form>
  );
}
