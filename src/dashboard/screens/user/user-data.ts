import { useFind } from '../../api/use-find.ts';
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

/** The user; null if the account has none with this id, or no more. */
export const useUser = (userId: string): UserData | null =>
  useFind(UserScreen, { userId }, ['user', 'license'])?.endUser ?? null;
