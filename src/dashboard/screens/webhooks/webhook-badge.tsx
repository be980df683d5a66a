import { Status } from '../../ui/status.tsx';
import { badgeOf, type WebhookState } from './webhook-state.ts';

export function WebhookBadge({ webhook }: { readonly webhook: WebhookState }) {
  const { tone, label } = badgeOf(webhook);
  return <Status tone={tone}>{label}</Status>;
}
