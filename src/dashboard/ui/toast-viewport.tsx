import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import { Button } from './button.tsx';
import styles from './toast.module.css';
import type { Message } from './toast.ts';

const manager = Toast.createToastManager();

function add({ title, description, undo, isError = false }: Message): void {
  const id = manager.add({
    title,
    description,
    timeout: isError ? 12_000 : undo ? 10_000 : 4_000,
    ...(isError && { type: 'error', priority: 'high' as const }),
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

/** Where toasts appear. @param onReady takes the function that shows one */
export function ToastViewport({ onReady }: { readonly onReady: (add: (message: Message) => void) => void }) {
  useEffect(() => onReady(add), [onReady]);
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
