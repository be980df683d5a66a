import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';

/** Only paths of the dashboard: a link to the sign-in page must not lead elsewhere. */
const isOwnPath = (path: string | undefined): path is string =>
  path !== undefined && /^\/(?![/\\])/.test(path);

/** Continues where the developer wanted to go, after nothing of an earlier session is left. */
export function useEnter(next: string | undefined): () => void {
  const client = useQueryClient();
  const router = useRouter();
  return () => {
    client.clear();
    if (isOwnPath(next)) router.history.push(router.basepath + next);
    else void router.navigate({ to: '/' });
  };
}
