import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { numberText } from '../../ui/format.ts';
import { amountText, expiriesWithin, type History, refusalsOf, shareText, validationsOf } from './history.ts';
import styles from './overview.module.css';

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note: ReactNode;
}

const Tile = ({ name, value, note }: TileProps) => (
  <div className={styles.tile}>
    <dt className={styles.tileName}>{name}</dt>
    <dd className={styles.tileValue}>{value}</dd>
    <dd className={styles.tileNote}>{note}</dd>
  </div>
);

interface TilesProps {
  /** The application whose lists the tiles link to; null if there are several. */
  readonly applicationId: string | null;
  readonly history: History;
}

export function Tiles({ applicationId, history }: TilesProps) {
  const validations = validationsOf(history);
  const refusals = refusalsOf(history);
  const { active, total } = history.licenses;
  const week = expiriesWithin(history, 7);
  const weekText = `${numberText(week)} in 7 days`;
  return (
    <dl className={styles.tiles}>
      <Tile
        name="Validations"
        value={numberText(validations)}
        note={`${numberText(validations - refusals)} OK`}
      />
      <Tile name="Refused" value={shareText(refusals, validations)} note={amountText(refusals, 'verdict')} />
      <Tile name="Active licenses" value={numberText(active)} note={`of ${numberText(total)}`} />
      <Tile
        name="Expire in 30 days"
        value={numberText(expiriesWithin(history, 30))}
        note={
          applicationId === null || week === 0 ? (
            weekText
          ) : (
            <Link
              to="/applications/$applicationId/licenses"
              params={{ applicationId }}
              search={{ status: ['active'], expires: 7 }}
            >
              {weekText}
            </Link>
          )
        }
      />
    </dl>
  );
}
