import { PageHeader } from '../../ui/page.tsx';

export const ApiKeys = () => <PageHeader title="ApiKeys" />;
