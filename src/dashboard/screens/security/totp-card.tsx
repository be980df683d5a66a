import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ButtonRow, Card, Stack } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { DisableTotp } from './disable-totp.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { RenewCodes } from './renew-codes.tsx';
import styles from './security.module.css';
import { SetUpTotp } from './set-up-totp.tsx';

interface TotpCardProps {
  readonly isOn: boolean;
  readonly codesLeft: number;
}

type Open = 'setUp' | 'renew' | 'disable' | { readonly codes: readonly string[] } | null;

/** Signing in with a code of an authenticator app besides the password. */
export function TotpCard({ isOn, codesLeft }: TotpCardProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const onCodes = (codes: readonly string[]) => setOpen({ codes });
  return (
    <Card
      title="Two-step sign-in (TOTP)"
      aside={<Status tone={isOn ? 'ok' : 'idle'}>{isOn ? 'On' : 'Off'}</Status>}
    >
      <Stack>
        <p className={styles.text}>
          {isOn
            ? `Signing in needs your password and a code of your authenticator app. ${codesLeft} of 10 recovery codes are left.`
            : 'With it, a stolen password is not enough: signing in also needs a code of an app on your phone. Dangerous changes then ask for your password and a code.'}
        </p>
        <ButtonRow>
          {isOn ? (
            <>
              <Button look={codesLeft < 3 ? 'primary' : 'plain'} onClick={() => setOpen('renew')}>
                New recovery codes…
              </Button>
              <Button look="danger" onClick={() => setOpen('disable')}>
                Turn off two-step sign-in…
              </Button>
            </>
          ) : (
            <Button look="primary" onClick={() => setOpen('setUp')}>
              Turn on two-step sign-in…
            </Button>
          )}
        </ButtonRow>
      </Stack>
      {open === 'setUp' && <SetUpTotp onCodes={onCodes} onClose={close} />}
      {open === 'renew' && <RenewCodes onCodes={onCodes} onClose={close} />}
      {open === 'disable' && <DisableTotp onClose={close} />}
      {open !== null && typeof open === 'object' && <RecoveryCodes codes={open.codes} onClose={close} />}
    </Card>
  );
}
