import { PageHeader } from '../../ui/page.tsx';

export const User = () => <PageHeader title="User" />;
