import { PageHeader } from '../../ui/page.tsx';

export const Log = () => <PageHeader title="Log" />;
