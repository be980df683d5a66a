/** What can be done with a license in a dialog. */
export type Act =
  | 'suspend'
  | 'renew'
  | 'ban'
  | 'unban'
  | 'terms'
  | 'tier'
  | 'policy'
  | 'rotate'
  | 'reset'
  | 'lease'
  | 'delete';

export interface DialogProps {
  readonly onClose: () => void;
}
