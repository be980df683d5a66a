import { PageHeader } from '../../ui/page.tsx';

export const License = () => <PageHeader title="License" />;
