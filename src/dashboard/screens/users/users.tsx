import { PageHeader } from '../../ui/page.tsx';

export const Users = () => <PageHeader title="Users" />;
