import { ButtonLink } from '../ui/button.tsx';
import { EmptyState, PageHeader } from '../ui/page.tsx';

export function NotFound() {
  return (
    <>
      <PageHeader title="Not found" />
      <EmptyState
        title="There is nothing here"
        action={
          <ButtonLink to="/" look="primary">
            Go to the overview
          </ButtonLink>
        }
      >
        It may have been deleted, it may belong to another account, or the address has a typing error.
      </EmptyState>
    </>
  );
}
