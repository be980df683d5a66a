import { useState } from 'react';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { SimpleTable } from '../../ui/simple-table.tsx';
import { Status } from '../../ui/status.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import { tell, tellError } from '../../ui/toast.ts';
import { countryOf } from './country-of.ts';
import { deviceOf } from './device-of.ts';
import styles from './security.module.css';

// An account has 100 sessions unless the operator allows more; the oldest end by themselves.
const SecuritySessions = graphql(`
  query SecuritySessions {
    me {
      account {
        sessions(first: 200) {
          edges {
            node {
              id
              current
              userAgent
              ip
              country
              createdAt
              lastSeenAt
            }
          }
        }
      }
    }
  }
`);

const SecurityEndSession = graphql(`
  mutation SecurityEndSession($input: RevokeSessionInput!) {
    revokeSession(input: $input) {
      revokedSessionId
    }
  }
`);

/** Where the account is signed in. The session of this browser is ended by signing out. */
export function SessionsCard() {
  const { me } = useRead(SecuritySessions, {}, ['account']);
  const rows = present(me).account.sessions.edges.map(({ node }) => node);
  const [asksForOthers, setAsksForOthers] = useState(false);
  const end = useChange(SecurityEndSession, { onDone: () => tell('The session has ended.') });
  return (
    <section className={styles.sessions}>
      <div className={styles.bar}>
        <h2>
          Sessions <Dim>{rows.length}</Dim>
        </h2>
        <Button disabled={rows.every(({ current }) => current)} onClick={() => setAsksForOthers(true)}>
          End all others…
        </Button>
      </div>
      <SimpleTable
        label="Sessions"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            header: 'Device',
            cell: ({ userAgent, current }) => (
              <span title={userAgent ?? undefined}>
                {deviceOf(userAgent)} {current && <Status tone="ok">This one</Status>}
              </span>
            ),
          },
          { header: 'Address', cell: ({ ip }) => (ip ? <Mono>{ip}</Mono> : <Dim>unknown</Dim>) },
          { header: 'Country', cell: ({ country }) => countryOf(country) ?? <Dim>unknown</Dim> },
          { header: 'Signed in', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { header: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
          {
            header: 'Action',
            number: true,
            cell: ({ id, current, userAgent }) =>
              current ? null : (
                <span>
                  <Button
                    small
                    aria-label={`End the session of ${deviceOf(userAgent)}`}
                    busy={end.isPending && end.variables.input.id === id}
                    onClick={() => end.mutate({ input: { id } }, { onError: tellError })}
                  >
                    End
                  </Button>
                </span>
              ),
          },
        ]}
      />
      {asksForOthers && <EndOthers onClose={() => setAsksForOthers(false)} />}
    </section>
  );
}

const SecurityEndOthers = graphql(`
  mutation SecurityEndOthers {
    revokeOtherSessions {
      revoked
    }
  }
`);

function EndOthers({ onClose }: { readonly onClose: () => void }) {
  const end = useChange(SecurityEndOthers, {
    onDone: ({ revokeOtherSessions }) => {
      const { revoked = 0 } = revokeOtherSessions ?? {};
      tell(revoked === 1 ? 'One session has ended.' : `${revoked} sessions have ended.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="End all other sessions?"
      action="End all others"
      busy={end.isPending}
      onConfirm={() => end.mutate({})}
      onClose={onClose}
    >
      {end.error && <Problem error={end.error} />}
      <p>All other browsers are signed out at once. This one stays signed in, and API keys keep working.</p>
    </ConfirmDialog>
  );
}
