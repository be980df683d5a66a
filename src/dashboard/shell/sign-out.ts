import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { request } from '../api/request.ts';
import { graphql } from '../generated/gql.ts';
import { tellError } from '../ui/toast.tsx';

const SignOut = graphql(`
  mutation SignOut {
    logout {
      success
    }
  }
`);

/** Ends the session, and forgets what was read in it. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    try {
      await request(SignOut, {});
    } catch (thrown) {
      tellError(thrown);
      return;
    }
    await navigate({ to: '/sign-in' });
    client.clear();
  };
}
