import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { adviceFor } from '../api/advice.ts';
import type { ApiError } from '../api/api-error.ts';
import { present } from '../api/present.ts';
import { queryOf } from '../api/query.ts';
import { graphql } from '../generated/gql.ts';
import { LicenseStatusBadge } from '../ui/status.tsx';
import type { PaletteGroup } from './palette-items.ts';
import { useApplications } from './session.ts';

const PaletteMatches = graphql(`
  query PaletteMatches($applicationId: ID!, $q: String!, $first: Int!) {
    application(id: $applicationId) {
      id
      name
      licenses(q: $q, first: $first) {
        edges {
          node {
            id
            keyPrefix
            status
            graceEndsAt
            note
          }
        }
      }
      users(q: $q, first: $first) {
        edges {
          node {
            id
            username
            email
          }
        }
      }
    }
  }
`);

const most = 5;
const leastLetters = 2;
const waitMilliseconds = 180;
/** In so many applications at once; with more, in the current one only. */
const mostApplications = 5;

function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), waitMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return delayed;
}

interface PaletteSearch {
  readonly groups: readonly PaletteGroup[];
  readonly isSearching: boolean;
  /** Why nothing was found, if the search failed. */
  readonly problem: string | null;
}

const textOf = (error: ApiError): string => [error.message, adviceFor(error)].filter(Boolean).join(' ');

/** Licenses and users that match a text. A text may be a whole key: it is sent in a body, and not kept. */
export function usePaletteSearch(applicationId: string | undefined, text: string): PaletteSearch {
  const navigate = useNavigate();
  const applications = useApplications();
  const wanted = text.trim();
  const q = useDelayed(wanted);
  const few = applications.length <= mostApplications ? applications.map(({ id }) => id) : [];
  const searched = applicationId === undefined ? few : [applicationId];
  const isWanted = wanted.length >= leastLetters && searched.length > 0;
  const results = useQueries({
    queries: (isWanted && q.length >= leastLetters ? searched : []).map((id) => ({
      ...queryOf(PaletteMatches, { applicationId: id, q, first: most }),
      gcTime: 0,
    })),
  });
  const found = results.flatMap(({ data }) => (data === undefined ? [] : [present(data.application)]));
  const isOne = searched.length === 1;
  const licenses = found.flatMap(({ id, name, licenses: { edges } }) =>
    edges.map(({ node }) => ({
      id: `license-${node.id}`,
      name: node.keyPrefix,
      detail: (
        <>
          {[isOne ? null : name, node.note].filter(Boolean).join(', ')} <LicenseStatusBadge {...node} />
        </>
      ),
      run: () =>
        navigate({
          to: '/applications/$applicationId/licenses/$licenseId',
          params: { applicationId: id, licenseId: node.id },
        }),
    })),
  );
  const users = found.flatMap(({ id, name, users: { edges } }) =>
    edges.map(({ node }) => ({
      id: `user-${node.id}`,
      name: node.username,
      detail: [isOne ? null : name, node.email].filter(Boolean).join(', '),
      run: () =>
        navigate({
          to: '/applications/$applicationId/users/$userId',
          params: { applicationId: id, userId: node.id },
        }),
    })),
  );
  const failed = results.find(({ error }) => error !== null)?.error;
  return {
    groups: [
      { name: 'Licenses', items: licenses.slice(0, most) },
      { name: 'Users', items: users.slice(0, most) },
    ],
    isSearching: isWanted && (q !== wanted || results.some(({ isPending }) => isPending)),
    problem: failed ? textOf(failed) : null,
  };
}
