import { PageHeader } from '../../ui/page.tsx';

export const Sdk = () => <PageHeader title="Sdk" />;
