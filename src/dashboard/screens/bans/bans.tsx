import { PageHeader } from '../../ui/page.tsx';

export const Bans = () => <PageHeader title="Bans" />;
