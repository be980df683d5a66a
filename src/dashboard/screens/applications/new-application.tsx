import { PageHeader } from '../../ui/page.tsx';

export const NewApplication = () => <PageHeader title="NewApplication" />;
