import { queryOf, useRead } from '../api/query.ts';
import { graphql } from '../generated/gql.ts';
import type { SessionQuery } from '../generated/graphql.ts';

const Session = graphql(`
  query Session {
    me {
      id
      name
      email
      keyCreationMode
      licenseMask
      account {
        security {
          totpEnabled
          requireConfirmation
        }
      }
      applications(first: 100) {
        totalCount
        edges {
          node {
            id
            name
            status
          }
        }
      }
    }
  }
`);

export const sessionQuery = () => queryOf(Session, {}, ['account', 'application']);

export type Developer = NonNullable<SessionQuery['me']>;
export type ApplicationInSession = Developer['applications']['edges'][number]['node'];

/** The developer who is signed in; the guard of the shell's route has made sure that there is one. */
export function useDeveloper(): Developer {
  const { me } = useRead(Session, {}, ['account', 'application']);
  if (!me) throw new Error('Nobody is signed in.');
  return me;
}

/** The name of an application; empty if the developer has more than the session lists. */
export const useApplicationName = (id: string): string =>
  useApplications().find((application) => application.id === id)?.name ?? '';

/** The developer's applications, newest first. */
export const useApplications = (): readonly ApplicationInSession[] =>
  useDeveloper().applications.edges.map(({ node }) => node);
