import { useNavigate } from '@tanstack/react-router';
import { request } from '../api/request.ts';
import { graphql } from '../generated/gql.ts';
import { tellError } from '../ui/toast.ts';

const SignOut = graphql(`
  mutation SignOut {
    logout {
      success
    }
  }
`);

/** Ends the session. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    try {
      await request(SignOut, {});
    } catch (thrown) {
      tellError(thrown);
      return;
    }
    // The page of sign-in forgets it: here, what is not saved may keep the screen where it is.
    await navigate({ to: '/sign-in' });
  };
}
