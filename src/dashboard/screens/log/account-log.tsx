import { PageHeader } from '../../ui/page.tsx';

export const AccountLog = () => <PageHeader title="AccountLog" />;
