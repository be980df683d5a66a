import { numberText } from '../../ui/format.ts';
import { Status } from '../../ui/status.tsx';
import { Dim } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import { type DeliveryRow, deliveryStates } from './delivery.ts';

export function DeliveryBadge({ row: { status } }: { readonly row: DeliveryRow }) {
  const { tone, label } = deliveryStates[status];
  return <Status tone={tone}>{label}</Status>;
}

export const Latency = ({ row: { latencyMilliseconds } }: { readonly row: DeliveryRow }) =>
  typeof latencyMilliseconds === 'number' ? `${numberText(latencyMilliseconds)} ms` : <Dim>–</Dim>;

export function NextAttempt({ row: { status, nextAttemptAt } }: { readonly row: DeliveryRow }) {
  if (status !== 'pending' || !nextAttemptAt) return <Dim>none</Dim>;
  return new Date(nextAttemptAt).getTime() <= Date.now() ? 'now' : <Ago at={nextAttemptAt} />;
}
