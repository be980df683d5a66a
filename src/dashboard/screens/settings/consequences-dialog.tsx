import type { UpdateApplicationSettingsInput } from '../../generated/graphql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import type { SettingsValues } from './settings-data.ts';

/** What a change does to customers at once; empty if it can refuse nobody. */
export const consequencesOf = (
  current: SettingsValues,
  { status, version, protocol }: Omit<UpdateApplicationSettingsInput, 'id'>,
): readonly string[] => [
  ...(status === 'disabled'
    ? [
        'Every program of your customers is refused with APP_DISABLED, until you activate the application again. Devices that are offline go on with their leases until these end.',
      ]
    : []),
  ...(version !== undefined && version !== null
    ? [
        `Programs that send another version than ${version} are refused with APP_OUTDATED: also those that send ${current.version}. Publish the new program first.`,
      ]
    : []),
  ...(protocol === 'v2_only'
    ? ['Programs that use version 1 of the protocol are refused with APP_OUTDATED.']
    : []),
];

interface ConsequencesDialogProps {
  readonly consequences: readonly string[];
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before a change refuses customers. */
export const ConsequencesDialog = ({ consequences, onConfirm, onClose }: ConsequencesDialogProps) => (
  <ConfirmDialog
    title="Save changes that refuse customers?"
    action="Save changes"
    onConfirm={onConfirm}
    onClose={onClose}
  >
    {consequences.map((consequence) => (
      <p key={consequence}>{consequence}</p>
    ))}
    <p>It takes effect at once. You can change it back at any time.</p>
  </ConfirmDialog>
);
