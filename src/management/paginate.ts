import { ManagementError } from './errors.ts';

/** A connection's page info. Forward pagination needs the first two members, backward pagination the last two. */
export interface PageInfo {
  readonly hasNextPage?: boolean;
  readonly endCursor?: string | null;
  readonly hasPreviousPage?: boolean;
  readonly startCursor?: string | null;
}

/** The parts of a connection that pagination needs. */
export interface Connection {
  readonly edges: readonly { readonly node: unknown }[];
  readonly pageInfo: PageInfo;
}

/** Pagination variables of a document. */
export interface PageVariables {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** The node type of a connection. */
export type NodeOf<Page extends Connection> = Page['edges'][number]['node'];

/** Iterates over all nodes of a list. Each iteration starts over; pages are fetched on demand. */
export interface Pages<Page extends Connection> extends AsyncIterable<NodeOf<Page>> {
  /** Iterates over the pages, including other selected fields such as `totalCount`. */
  pages(): AsyncGenerator<Page, void, undefined>;
}

/**
 * @param fetchPage fetches the page for these variables; null if the data has no connection
 * @param variables variables of the first page; `last` or `before` select backward pagination
 */
export function paginate<Variables extends PageVariables, Page extends Connection>(
  fetchPage: (variables: Variables) => Promise<Page | null | undefined>,
  variables: Variables,
): Pages<Page> {
  const backwards = (variables.last ?? variables.before ?? null) !== null;
  async function* pages(): AsyncGenerator<Page, void, undefined> {
    for (let current = variables; ; ) {
      const page = await fetchPage(current);
      if (page === null || page === undefined) throw noConnection();
      yield page;
      const cursor = nextCursor(page.pageInfo, backwards);
      if (cursor === null) return;
      if (cursor === (backwards ? current.before : current.after)) throw noProgress();
      current = { ...current, [backwards ? 'before' : 'after']: cursor };
    }
  }
  async function* nodes(): AsyncGenerator<NodeOf<Page>, void, undefined> {
    // A page is always ordered from newest to oldest; backward pagination yields it in reverse.
    for await (const { edges } of pages()) {
      const inOrder: Page['edges'] = backwards ? edges.toReversed() : edges;
      for (const { node } of inOrder) yield node as NodeOf<Page>;
    }
  }
  return { pages, [Symbol.asyncIterator]: nodes };
}

/** The cursor of the next page; null on the last page. */
function nextCursor(info: PageInfo, backwards: boolean): string | null {
  const more = backwards ? info.hasPreviousPage : info.hasNextPage;
  const cursor = backwards ? info.startCursor : info.endCursor;
  if (more === undefined || cursor === undefined) {
    const needed = backwards ? 'hasPreviousPage startCursor' : 'hasNextPage endCursor';
    throw new TypeError(`The document must select pageInfo { ${needed} } for pagination`);
  }
  if (more && cursor === null) throw noProgress();
  return more ? cursor : null;
}

const noConnection = () =>
  new ManagementError('BAD_ANSWER', 'The selected connection is missing in the response');

const noProgress = () =>
  new ManagementError('BAD_ANSWER', 'The service reports more pages but returned no cursor that advances');
