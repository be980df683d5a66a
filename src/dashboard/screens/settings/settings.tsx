import { PageHeader } from '../../ui/page.tsx';

export const Settings = () => <PageHeader title="Settings" />;
