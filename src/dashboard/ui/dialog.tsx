import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './dialog.module.css';

interface DialogProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** Buttons; a form's submit button names the form by its `form` attribute. */
  readonly footer?: ReactNode;
  readonly wide?: boolean;
  readonly onClose: () => void;
}

/** What has the focus at first: a field before buttons, and not the region that scrolls. */
const firstControls = ['input:not([hidden], :disabled), select, textarea', 'button, a[href]'] as const;

function firstControlIn(popup: HTMLElement | null): HTMLElement | true {
  for (const controls of firstControls) {
    const first = popup?.querySelector<HTMLElement>(controls);
    if (first) return first;
  }
  return true;
}

/** A modal dialog. Render it while it is open. */
export function Dialog({ title, children, footer, wide = false, onClose }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root open onOpenChange={(open) => open || onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup
          ref={popup}
          className={classNames(styles.popup, wide && styles.wide)}
          initialFocus={() => firstControlIn(popup.current)}
        >
          <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
          {/* A region that scrolls must be reachable by keyboard. */}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
          <div className={styles.body} tabIndex={0}>
            {children}
          </div>
          {footer !== undefined && <div className={styles.footer}>{footer}</div>}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ConfirmDialogProps {
  readonly title: ReactNode;
  /** What will happen, and whether it can be undone. */
  readonly children: ReactNode;
  /** The verb, such as "Delete license". */
  readonly action: string;
  readonly look?: ButtonLook;
  readonly busy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function ConfirmDialog({
  title,
  children,
  action,
  look = 'danger',
  busy,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  // What was sent is not called back by closing, and its answer may be a secret that is shown once.
  const close = () => busy || onClose();
  return (
    <Dialog
      title={title}
      onClose={close}
      footer={
        <>
          <Button disabled={busy} onClick={close}>
            Cancel
          </Button>
          <Button look={look} busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
