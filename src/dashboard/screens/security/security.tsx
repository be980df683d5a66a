import { PageHeader } from '../../ui/page.tsx';

export const Security = () => <PageHeader title="Security" />;
