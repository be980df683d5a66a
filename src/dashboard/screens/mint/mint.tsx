import { PageHeader } from '../../ui/page.tsx';

export const Mint = () => <PageHeader title="Mint" />;
