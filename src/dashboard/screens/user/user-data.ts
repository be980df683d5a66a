import { useSuspenseQuery } from '@tanstack/react-query';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { UserScreenQuery } from '../../generated/graphql.ts';

const UserScreen = graphql(`
  query UserScreen($userId: ID!) {
    endUser(id: $userId) {
      id
      username
      email
      subscriptionTier
      lastHwid
      lastIp
      createdAt
      updatedAt
      license {
        id
        keyPrefix
        status
        graceEndsAt
      }
      application {
        id
        name
      }
    }
  }
`);

/** What the screen knows of its user. */
export type UserData = NonNullable<UserScreenQuery['endUser']>;

/** Reads the user, and fails also if the account is deleted while it is shown. */
export function useUser(userId: string): UserData {
  const { data, error } = useSuspenseQuery(queryOf(UserScreen, { userId }, ['user', 'license']));
  if (error?.code === 'USER_NOT_FOUND') throw error;
  return present(data.endUser);
}
