import type { LogEntryFragment } from '../../generated/graphql.ts';
import { isRefusal } from '../../log-entries/entry.ts';
import { actorText } from '../../log-entries/entry-actor.ts';
import { entryText } from '../../log-entries/entry-text.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/page.tsx';
import { CodeBadge } from '../../ui/status.tsx';
import { Mono } from '../../ui/text.tsx';
import { Moment } from '../../ui/time.tsx';
import { Explanation } from './explanation.tsx';
import { LicenseOf, UserOf } from './log-columns.tsx';

interface EntryDialogProps {
  readonly entry: LogEntryFragment;
  readonly onClose: () => void;
}

/** All that is known of an entry. */
export function EntryDialog({ entry, onClose }: EntryDialogProps) {
  const { id, event, code, createdAt, hwid, ip, country, metadata, licenseId, userId } = entry;
  return (
    <Dialog
      title={entryText(entry)}
      wide
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      }
    >
      <Facts
        facts={[
          ['Verdict', code && <CodeBadge code={code} />],
          ['Time', <Moment key="time" at={createdAt} />],
          ['UTC', <Mono key="utc">{createdAt}</Mono>],
          ['License', licenseId && <LicenseOf entry={entry} />],
          ['User', userId && <UserOf entry={entry} />],
          ['Device', hwid && <Mono>{hwid}</Mono>],
          ['Address', ip && <Mono>{[ip, country].filter(Boolean).join(' ')}</Mono>],
          ['By', actorText(entry)],
          ['Event', <Mono key="event">{event}</Mono>],
          ['Id', <Mono key="id">{id}</Mono>],
        ]}
      />
      {Object.keys(metadata).length > 0 && (
        <CodeBlock label="Metadata" code={JSON.stringify(metadata, null, 2)} />
      )}
      {event === 'license_validated' && isRefusal(entry) && licenseId && <Explanation logEntryId={id} />}
    </Dialog>
  );
}
