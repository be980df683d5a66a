import { type FormEvent, type ReactNode, useId } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Problem, Stack } from './page.tsx';

interface FormDialogProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** The verb on the button that submits, such as "Create key". */
  readonly action: string;
  readonly look?: ButtonLook;
  readonly busy: boolean;
  /** Shown above the fields; null if there is none, or if a field shows it. */
  readonly error?: unknown;
  readonly wide?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

/** A modal dialog with a form. It stays open while the service is asked, and afterwards if it refused. */
export function FormDialog(props: FormDialogProps) {
  const { title, children, action, look = 'primary', busy, error, wide, onSubmit, onClose } = props;
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Enter in a field submits a form whose button is busy.
    if (!busy) onSubmit();
  };
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={look} type="submit" form={id} busy={busy}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit}>
        <Stack>
          {error !== null && error !== undefined && <Problem error={error} />}
          {children}
        </Stack>
      </form>
    </Dialog>
  );
}
