import { PageHeader } from '../../ui/page.tsx';

export const KeyCreation = () => <PageHeader title="KeyCreation" />;
