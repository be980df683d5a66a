import { Toast } from '@base-ui/react/toast';
import { adviceFor } from '../api/advice.ts';
import { asApiError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import styles from './toast.module.css';

const manager = Toast.createToastManager();

interface Undo {
  readonly label: string;
  readonly run: () => void;
}

/** Says that something was done, with a way back where there is one. */
export function tell(title: string, undo?: Undo): void {
  const id = manager.add({
    title,
    timeout: undo ? 10_000 : 4_000,
    ...(undo && {
      actionProps: {
        children: undo.label,
        onClick: () => {
          manager.close(id);
          undo.run();
        },
      },
    }),
  });
}

/** Says why something was not done, and what to do about it. */
export function tellError(thrown: unknown): void {
  const error = asApiError(thrown);
  manager.add({
    title: error.message,
    description: adviceFor(error),
    type: 'error',
    timeout: 12_000,
    priority: 'high',
  });
}

function Toasts() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles.toast} data-type={toast.type}>
      <Toast.Content className={styles.text}>
        <Toast.Title className={styles.title} />
        <Toast.Description className={styles.description} />
      </Toast.Content>
      {toast.actionProps && <Toast.Action render={<Button small />} />}
      <Toast.Close render={<Button small look="quiet" aria-label="Dismiss" />}>✕</Toast.Close>
    </Toast.Root>
  ));
}

/** Where toasts appear; there is one, at the root. */
export function ToastViewport() {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <Toasts />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
