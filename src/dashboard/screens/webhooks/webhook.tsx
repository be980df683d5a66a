import { PageHeader } from '../../ui/page.tsx';

export const Webhook = () => <PageHeader title="Webhook" />;
