import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { MenuItem, MenuSeparator } from '../../ui/menu-items.tsx';
import { tell, tellError } from '../../ui/toast.ts';
import { WebhooksUpdate } from './edit-webhook.tsx';

export type WebhookAct = 'edit' | 'replay' | 'rotate' | 'delete';

interface WebhookActionsProps {
  readonly webhookId: string;
  readonly isEnabled: boolean;
  readonly isTesting: boolean;
  readonly onTest: () => void;
  readonly onAct: (act: WebhookAct) => void;
}

/** What can be done with a webhook. Disabling it loses nothing, so it offers a way back instead of asking. */
export function WebhookActions({ webhookId, isEnabled, isTesting, onTest, onAct }: WebhookActionsProps) {
  const change = useChange(WebhooksUpdate);
  const set = (enabled: boolean, isUndo = false) =>
    change.mutate(
      { input: { id: webhookId, enabled } },
      {
        onError: tellError,
        onSuccess: () =>
          tell(
            enabled ? 'The webhook is enabled. It goes on where it stopped.' : 'The webhook is disabled.',
            isUndo ? undefined : { label: 'Undo', run: () => set(!enabled, true) },
          ),
      },
    );
  return (
    <>
      <Button busy={change.isPending} onClick={() => set(!isEnabled)}>
        {isEnabled ? 'Disable' : 'Enable'}
      </Button>
      <Menu trigger={<Button>More</Button>}>
        <MenuItem onSelect={() => onAct('edit')}>Edit…</MenuItem>
        <MenuItem disabled={!isEnabled} onSelect={() => onAct('replay')}>
          Send a time again…
        </MenuItem>
        <MenuItem onSelect={() => onAct('rotate')}>Replace the secret…</MenuItem>
        <MenuSeparator />
        <MenuItem danger onSelect={() => onAct('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      <Button look="primary" busy={isTesting} onClick={onTest}>
        {isTesting ? 'Sending…' : 'Send a test'}
      </Button>
    </>
  );
}
