import { PageHeader } from '../../ui/page.tsx';

export const NewPolicy = () => <PageHeader title="NewPolicy" />;
