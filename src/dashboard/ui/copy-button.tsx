import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import { tellError } from './toast.ts';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, where "Copy" alone does not say it. */
  readonly label?: string;
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button small onClick={() => copyText(text).then(() => setCopied(true), tellError)}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  );
}
