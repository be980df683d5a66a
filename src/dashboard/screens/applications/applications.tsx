import { PageHeader } from '../../ui/page.tsx';

export const Applications = () => <PageHeader title="Applications" />;
