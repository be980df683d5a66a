import { PageHeader } from '../../ui/page.tsx';

export const Overview = () => <PageHeader title="Overview" />;
