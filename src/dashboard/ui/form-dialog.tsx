import { type FormEvent, type ReactNode, useId } from 'react';
import { ApiError } from '../api/api-error.ts';
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
  /** Members of the input whose fields say what is wrong with them. */
  readonly marked?: readonly string[];
  readonly wide?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

/** The error to show above the fields: shorter if each of its problems is said at a field. */
function summaryOf(error: unknown, marked: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.issues.length === 0) return error;
  const isMarked = error.issues.every(({ path }) => marked.includes(path[0] ?? ''));
  return isMarked ? new ApiError(error.code, 'Nothing was saved. Change what is marked below.') : error;
}

/** A modal dialog with a form. It stays open while the service is asked, and afterwards if it refused. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    children,
    action,
    look = 'primary',
    busy,
    error,
    marked = [],
    wide,
    onSubmit,
    onClose,
  } = props;
  const id = useId();
  // What was sent is not called back by closing, and its answer may be a token that is shown once.
  const close = () => busy || onClose();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // Enter in a field submits a form whose button is busy.
    if (!busy) onSubmit();
  };
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={close}
      footer={
        <>
          <Button disabled={busy} onClick={close}>
            Cancel
          </Button>
          <Button look={look} type="submit" form={id} busy={busy}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit}>
        <Stack>
          {error !== null && error !== undefined && <Problem error={summaryOf(error, marked)} />}
          {children}
        </Stack>
      </form>
    </Dialog>
  );
}
