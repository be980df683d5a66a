import { type FormEvent, useId, useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { MomentField } from '../../ui/moment-field.tsx';
import { LicenseDevice, useDevices } from './device-data.ts';
import styles from './explain.module.css';
import type { LicenseData } from './license-data.ts';

export interface Facts {
  readonly hwid?: string;
  readonly ip?: string;
  readonly version?: string;
  readonly at?: string;
}

interface ExplainFormProps {
  readonly license: LicenseData;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onAsk: (facts: Facts) => void;
}

const given = (name: keyof Facts, value: string | null) =>
  value === null || value.trim() === '' ? {} : { [name]: value.trim() };

/** What a client would say. What is left out is not judged. */
export function ExplainForm({ license, isBusy, error, onAsk }: ExplainFormProps) {
  const { active, released } = useDevices(license.id);
  const known = readFragment(LicenseDevice, [...active, ...released]);
  const suggestions = useId();
  const [hwid, setHwid] = useState('');
  const [ip, setIp] = useState('');
  const [version, setVersion] = useState(license.application.version);
  const [at, setAt] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    onAsk({
      ...given('hwid', hwid),
      ...given('ip', ip),
      ...given('version', version),
      ...given('at', at),
    });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField
        label="Device (HWID)"
        mono
        list={suggestions}
        autoComplete="off"
        spellCheck={false}
        placeholder="Not asked"
        value={hwid}
        onChange={setHwid}
        error={issueFor(error, 'hwid')}
      />
      <datalist id={suggestions}>
        {known.map(
          ({ id, hwid: value, name }) => value && <option key={id} value={value} label={name ?? ''} />,
        )}
      </datalist>
      <TextField
        label="IP address"
        mono
        autoComplete="off"
        placeholder="Not asked"
        value={ip}
        onChange={setIp}
        error={issueFor(error, 'ip')}
      />
      <TextField
        label="Version"
        autoComplete="off"
        placeholder="Not asked"
        value={version}
        onChange={setVersion}
        error={issueFor(error, 'version')}
      />
      <MomentField label="Time (empty: now)" value={at} onChange={setAt} error={issueFor(error, 'at')} />
      <Button type="submit" className={styles.submit} busy={isBusy}>
        Explain
      </Button>
    </form>
  );
}
