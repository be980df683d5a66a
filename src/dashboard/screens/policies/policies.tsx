import { PageHeader } from '../../ui/page.tsx';

export const Policies = () => <PageHeader title="Policies" />;
