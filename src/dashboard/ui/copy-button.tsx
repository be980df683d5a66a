import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import { tellError } from './toast.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, where "Copy" alone does not say it. */
  readonly label?: string;
  readonly onCopied?: () => void;
}

export function CopyButton({ text, label = 'Copy', onCopied }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await copyText(text);
      setCopied(true);
      onCopied?.();
    } catch (thrown) {
      tellError(thrown);
    }
  };
  return (
    <Button small onClick={copy}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </Button>
  );
}
