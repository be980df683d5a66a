import type { Column } from '../../list/columns.ts';
import { Ago } from '../../ui/time.tsx';
import { type DeliveryRow, outcomeOf } from './delivery.ts';
import { DeliveryBadge, Latency, NextAttempt } from './delivery-parts.tsx';
import styles from './webhooks.module.css';

interface EventButtonProps {
  readonly row: DeliveryRow;
  readonly onOpen: (row: DeliveryRow) => void;
}

/** The type of the event, which opens the delivery. */
export const EventButton = ({ row, onOpen }: EventButtonProps) => (
  <button type="button" className={styles.link} onClick={() => onOpen(row)}>
    {row.eventType}
  </button>
);

export const columnsOf = (onOpen: (row: DeliveryRow) => void): readonly Column<DeliveryRow>[] => [
  { id: 'event', header: 'Event', width: '26%', cell: (row) => <EventButton row={row} onOpen={onOpen} /> },
  { id: 'status', header: 'Status', width: '116px', cell: (row) => <DeliveryBadge row={row} /> },
  { id: 'outcome', header: 'Answer', cell: (row) => <span title={outcomeOf(row)}>{outcomeOf(row)}</span> },
  { id: 'latency', header: 'Took', width: '88px', number: true, cell: (row) => <Latency row={row} /> },
  { id: 'attempts', header: 'Attempts', width: '80px', number: true, cell: ({ attempts }) => attempts },
  { id: 'next', header: 'Next attempt', width: '104px', cell: (row) => <NextAttempt row={row} /> },
  { id: 'created', header: 'Created', width: '100px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
];
