import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { follow, type StreamState } from '../../api/follow.ts';
import { present } from '../../api/present.ts';
import { nameOf, useRead } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SdkValidationsQuery } from '../../generated/graphql.ts';

const SdkValidations = graphql(`
  query SdkValidations($applicationId: ID!) {
    application(id: $applicationId) {
      securityLog(first: 1, filter: { events: [license_validated] }) {
        edges {
          node {
            id
            code
            createdAt
            license {
              id
              keyPrefix
            }
          }
        }
      }
    }
  }
`);

const SdkLiveValidations = graphql(`
  subscription SdkLiveValidations($applicationId: ID!, $after: ID) {
    securityLog(applicationId: $applicationId, after: $after, events: [license_validated]) {
      id
      code
      createdAt
      license {
        id
        keyPrefix
      }
    }
  }
`);

export type Validation = NonNullable<
  SdkValidationsQuery['application']
>['securityLog']['edges'][number]['node'];

export interface ValidationState {
  /** The newest one; null if there was never one. */
  readonly last: Validation | null;
  /** Whether it arrived while the screen was open. */
  readonly isNew: boolean;
  readonly stream: StreamState;
}

/** The newest validation of an application, as soon as it is in the log. */
export function useLastValidation(applicationId: string): ValidationState {
  const client = useQueryClient();
  const { application } = useRead(SdkValidations, { applicationId });
  const earlier = present(application).securityLog.edges[0]?.node ?? null;
  const [arrived, setArrived] = useState<{ readonly in: string; readonly entry: Validation } | null>(null);
  const [stream, setStream] = useState<StreamState>('connecting');
  useEffect(
    () =>
      follow({
        document: SdkLiveValidations,
        variables: (after) => ({ applicationId, after }),
        idOf: ({ securityLog }) => securityLog.id,
        onNext: ({ securityLog }) => setArrived({ in: applicationId, entry: securityLog }),
        onGap: () => client.invalidateQueries({ queryKey: [nameOf(SdkValidations)] }),
        onState: setStream,
      }),
    [applicationId, client],
  );
  const entry = arrived?.in === applicationId ? arrived.entry : null;
  return { last: entry ?? earlier, isNew: entry !== null, stream };
}
