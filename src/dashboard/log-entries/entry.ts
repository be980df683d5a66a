import { graphql } from '../generated/gql.ts';
import type { LogEntryFragment } from '../generated/graphql.ts';

/** What a row shows of an entry. */
export const LogEntry = graphql(`
  fragment LogEntry on SecurityLogEntry {
    id
    event
    code
    createdAt
    hwid
    ip
    country
    metadata
    applicationId
    actor {
      kind
      name
    }
    licenseId
    license {
      id
      keyPrefix
    }
    userId
    user {
      id
      username
    }
  }
`);

/** Whether a client was refused: `explainLicense` can say why. */
export const isRefusal = ({ code }: Pick<LogEntryFragment, 'code'>): boolean =>
  typeof code === 'string' && code !== 'OK';
