import { Button, ButtonLink } from '../../ui/button.tsx';
import { ButtonRow } from '../../ui/page.tsx';
import { Dim } from '../../ui/text.tsx';
import type { Act } from './acts.ts';
import type { Facts } from './explain-form.tsx';
import type { LicenseData } from './license-data.ts';

interface RemediesProps {
  readonly code: string;
  readonly license: LicenseData;
  readonly question: { readonly [Name in keyof Facts]?: string | null | undefined };
  readonly onAct: (act: Act) => void;
  readonly onReinstate: () => void;
}

function goToDevices() {
  const card = document.getElementById('devices')?.closest('section');
  card?.scrollIntoView({ block: 'start' });
  card?.querySelector('button')?.focus({ preventScroll: true });
}

/** What the vendor can do about a refusal. */
export function Remedies({ code, license, question, onAct, onReinstate }: RemediesProps) {
  const params = { applicationId: license.application.id };
  const banned = code === 'IP_BANNED' ? question.ip : question.hwid;
  switch (code) {
    case 'BANNED':
      return (
        <ButtonRow>
          <Button onClick={() => onAct('unban')}>Unban…</Button>
        </ButtonRow>
      );
    case 'SUSPENDED':
      return (
        <ButtonRow>
          <Button onClick={onReinstate}>Reinstate</Button>
        </ButtonRow>
      );
    case 'EXPIRED':
      return (
        <ButtonRow>
          <Button onClick={() => onAct('renew')}>Renew…</Button>
          <Button onClick={() => onAct('terms')}>Give it a longer grace…</Button>
        </ButtonRow>
      );
    case 'DEVICE_LIMIT':
    case 'HWID_MISMATCH':
      return (
        <ButtonRow>
          <Button onClick={goToDevices}>Release a device</Button>
          <Button onClick={() => onAct('terms')}>Raise the limit…</Button>
        </ButtonRow>
      );
    case 'DEVICE_RELEASED':
      return (
        <ButtonRow>
          {license.deviceCount > 0 && <Button onClick={() => onAct('reset')}>Reset devices…</Button>}
          <Button onClick={() => onAct('terms')}>Change self-service…</Button>
          <Dim>Its customer can also move the license back to this device.</Dim>
        </ButtonRow>
      );
    case 'HWID_BANNED':
    case 'IP_BANNED':
      return (
        <ButtonRow>
          <ButtonLink
            to="/applications/$applicationId/bans"
            params={params}
            search={banned ? { q: banned } : {}}
          >
            Show the ban
          </ButtonLink>
        </ButtonRow>
      );
    case 'APP_DISABLED':
    case 'APP_OUTDATED':
      return (
        <ButtonRow>
          <ButtonLink to="/applications/$applicationId/settings" params={params}>
            Open the application's settings
          </ButtonLink>
        </ButtonRow>
      );
    default:
      return null;
  }
}
