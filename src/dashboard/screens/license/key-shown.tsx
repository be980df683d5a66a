import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/page.tsx';

interface KeyShownProps {
  readonly licenseKey: string;
  readonly onClose: () => void;
}

/** Shows a new key once. It closes only by its button, so that a slip of a key does not lose it. */
export function KeyShown({ licenseKey, onClose }: KeyShownProps) {
  const [asked, setAsked] = useState(false);
  return (
    <Dialog
      title="The new key"
      onClose={() => setAsked(true)}
      footer={
        <Button look="primary" onClick={onClose}>
          I have saved the key
        </Button>
      }
    >
      <p>Copy it now and give it to your customer. It is never shown again.</p>
      <CodeBlock code={licenseKey} label="The new license key" />
      {asked && (
        <div role="alert">
          <Notice>Save the key first. The service does not know it any more.</Notice>
        </div>
      )}
    </Dialog>
  );
}
