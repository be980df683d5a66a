import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import { PageHeader } from '../../ui/page.tsx';
import styles from './key-creation.module.css';
import { MaskCard } from './mask-card.tsx';
import { ModeCard } from './mode-card.tsx';
import { VaultCard } from './vault-card.tsx';

const KeyCreationAccount = graphql(`
  query KeyCreationAccount {
    me {
      account {
        keyCreationMode
        licenseMask
        vault {
          vaultSaltB64
          vaultCheckB64
        }
      }
    }
  }
`);

/** How license keys look, where they are made, and who can read notes. */
export function KeyCreation() {
  const { me } = useRead(KeyCreationAccount, {}, ['account']);
  const { keyCreationMode, licenseMask, vault } = present(me).account;
  return (
    <>
      <PageHeader title="Key creation" sub="How license keys look, and who knows them" />
      <div className={styles.page}>
        <MaskCard current={licenseMask ?? null} />
        <ModeCard mode={keyCreationMode} />
        <VaultCard vault={vault ?? null} isNeeded={keyCreationMode === 'private'} />
      </div>
    </>
  );
}
