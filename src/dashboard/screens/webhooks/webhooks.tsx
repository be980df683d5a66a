import { PageHeader } from '../../ui/page.tsx';

export const Webhooks = () => <PageHeader title="Webhooks" />;
