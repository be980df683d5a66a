import { Facts } from '../../ui/page.tsx';
import { Mono } from '../../ui/text.tsx';
import type { ApiKeyRow } from './api-key.ts';
import { type ApiKeyAct, ApiKeyMenu } from './api-key-menu.tsx';
import {
  ApiKeyApplication,
  ApiKeyExpiry,
  ApiKeyLastUsed,
  ApiKeyNetworks,
  ApiKeyState,
} from './api-key-parts.tsx';
import styles from './api-keys.module.css';
import { scopesInWords } from './scopes.ts';

interface ApiKeyCardProps {
  readonly row: ApiKeyRow;
  readonly onAct: (act: ApiKeyAct, row: ApiKeyRow) => void;
}

/** A key on a narrow screen. */
export const ApiKeyCard = ({ row, onAct }: ApiKeyCardProps) => (
  <>
    <div className={styles.cardHead}>
      <span>{row.name}</span>
      <ApiKeyMenu row={row} onAct={onAct} />
    </div>
    <Facts
      facts={[
        ['State', <ApiKeyState key="state" row={row} />],
        ['Begins with', <Mono key="prefix">{row.keyPrefix}…</Mono>],
        ['May do', scopesInWords(row.scopes, row.applicationId)],
        ['Application', <ApiKeyApplication key="application" row={row} />],
        ['Networks', <ApiKeyNetworks key="networks" row={row} />],
        ['Expires', <ApiKeyExpiry key="expires" row={row} />],
        ['Last used', <ApiKeyLastUsed key="used" row={row} />],
      ]}
    />
  </>
);
