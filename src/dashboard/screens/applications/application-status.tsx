import type { ApplicationStatus } from '../../generated/graphql.ts';
import { Status } from '../../ui/status.tsx';

export const ApplicationStatusBadge = ({ status }: { readonly status: ApplicationStatus }) =>
  status === 'active' ? <Status tone="ok">Active</Status> : <Status tone="warn">Disabled</Status>;
