import { ManagementError } from './errors.ts';

/** Where a page begins and ends. A document that is paged forwards selects the first two, backwards the last two. */
export interface PageInfo {
  readonly hasNextPage?: boolean;
  readonly endCursor?: string | null;
  readonly hasPreviousPage?: boolean;
  readonly startCursor?: string | null;
}

/** Any connection of the schema, as far as paging needs it. */
export interface Connection {
  readonly edges: readonly { readonly node: unknown }[];
  readonly pageInfo: PageInfo;
}

/** What a document's connection is asked with. */
export interface PageVariables {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** What a connection's edges lead to. */
export type NodeOf<Page extends Connection> = Page['edges'][number]['node'];

/** All of a list, node by node. Each iteration begins anew; a page is fetched when it is asked for, and not before. */
export interface Pages<Page extends Connection> extends AsyncIterable<NodeOf<Page>> {
  /** The pages as the service answers them, with what else the document selects, such as `totalCount`. */
  pages(): AsyncGenerator<Page, void, undefined>;
}

/**
 * @param fetchPage one page, by the variables that lead to it; null where the document has no connection
 * @param variables of the first page. With `last` or `before` it goes backwards
 */
export function paginate<Variables extends PageVariables, Page extends Connection>(
  fetchPage: (variables: Variables) => Promise<Page | null | undefined>,
  variables: Variables,
): Pages<Page> {
  const backwards = (variables.last ?? variables.before ?? null) !== null;
  async function* pages(): AsyncGenerator<Page, void, undefined> {
    for (let asked = variables; ; ) {
      const page = await fetchPage(asked);
      if (page === null || page === undefined) throw noConnection();
      yield page;
      const cursor = nextCursor(page.pageInfo, backwards);
      if (cursor === null) return;
      if (cursor === (backwards ? asked.before : asked.after)) throw noProgress();
      asked = { ...asked, [backwards ? 'before' : 'after']: cursor };
    }
  }
  async function* nodes(): AsyncGenerator<NodeOf<Page>, void, undefined> {
    // A page lists from newest to oldest either way; going backwards, its last one is the next one.
    for await (const { edges } of pages()) {
      const inOrder: Page['edges'] = backwards ? edges.toReversed() : edges;
      for (const { node } of inOrder) yield node as NodeOf<Page>;
    }
  }
  return { pages, [Symbol.asyncIterator]: nodes };
}

/** The cursor that leads on; null at the end. */
function nextCursor(info: PageInfo, backwards: boolean): string | null {
  const more = backwards ? info.hasPreviousPage : info.hasNextPage;
  const cursor = backwards ? info.startCursor : info.endCursor;
  if (more === undefined || cursor === undefined) {
    const needed = backwards ? 'hasPreviousPage startCursor' : 'hasNextPage endCursor';
    throw new TypeError(`The document must select pageInfo { ${needed} } to be paged`);
  }
  if (more && cursor === null) throw noProgress();
  return more ? cursor : null;
}

const noConnection = () => new ManagementError('BAD_ANSWER', 'There is no connection where one was selected');

const noProgress = () =>
  new ManagementError('BAD_ANSWER', 'The service says that pages follow, and gives no cursor that leads on');
