import { Facts } from '../../ui/page.tsx';
import { Ago } from '../../ui/time.tsx';
import { type DeliveryRow, outcomeOf } from './delivery.ts';
import { EventButton } from './delivery-columns.tsx';
import { DeliveryBadge, Latency, NextAttempt } from './delivery-parts.tsx';
import styles from './webhooks.module.css';

interface DeliveryCardProps {
  readonly row: DeliveryRow;
  readonly onOpen: (row: DeliveryRow) => void;
}

/** A delivery on a narrow screen. */
export const DeliveryCard = ({ row, onOpen }: DeliveryCardProps) => (
  <>
    <div className={styles.cardHead}>
      <EventButton row={row} onOpen={onOpen} />
      <DeliveryBadge row={row} />
    </div>
    <Facts
      facts={[
        ['Answer', outcomeOf(row)],
        ['Took', <Latency key="latency" row={row} />],
        ['Attempts', row.attempts],
        ['Next attempt', <NextAttempt key="next" row={row} />],
        ['Created', <Ago key="created" at={row.createdAt} />],
      ]}
    />
  </>
);
