import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import { PageHeader } from '../../ui/page.tsx';
import { ConfirmationCard } from './confirmation-card.tsx';
import { DeleteCard } from './delete-card.tsx';
import { ExportCard } from './export-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { ProfileCard } from './profile-card.tsx';
import styles from './security.module.css';
import { SessionsCard } from './sessions-card.tsx';
import { TotpCard } from './totp-card.tsx';

const SecurityOverview = graphql(`
  query SecurityOverview {
    me {
      account {
        security {
          totpEnabled
          requireConfirmation
          recoveryCodesLeft
        }
      }
    }
  }
`);

/** Who the developer is, how the account is protected, and where it is open. */
export function Security() {
  const { me } = useRead(SecurityOverview, {}, ['account']);
  const { totpEnabled, requireConfirmation, recoveryCodesLeft } = present(me).account.security;
  return (
    <>
      <PageHeader title="Security" sub="Your account, and who can get into it" />
      <div className={styles.page}>
        <div className={styles.cards}>
          <TotpCard isOn={totpEnabled} codesLeft={recoveryCodesLeft} />
          <ConfirmationCard isRequired={requireConfirmation} isTotpOn={totpEnabled} />
        </div>
        <div className={styles.cards}>
          <ProfileCard />
          <PasswordCard />
        </div>
        <SessionsCard />
        <div className={styles.cards}>
          <ExportCard />
          <DeleteCard />
        </div>
      </div>
    </>
  );
}
