import { PageHeader } from '../../ui/page.tsx';

export const Policy = () => <PageHeader title="Policy" />;
