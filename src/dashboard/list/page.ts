/** A page of a connection, as lists need it. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
  /** Null if this page was read without counting: counting 100,000 rows takes longer than reading 50 of them. */
  readonly totalCount: number | null;
  readonly totalCountIsExact: boolean;
}

interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null };
  readonly totalCount?: number;
  readonly totalCountIsExact?: boolean;
}

/**
 * Reads a connection that selects `edges { node }`, `pageInfo { endCursor hasNextPage }` and, at least on the first page,
 * both counts.
 */
export const pageOf = <Node>({
  edges,
  pageInfo,
  totalCount,
  totalCountIsExact,
}: Connection<Node>): Page<Node> => ({
  rows: edges.map(({ node }) => node),
  endCursor: pageInfo.endCursor ?? null,
  hasNextPage: pageInfo.hasNextPage,
  totalCount: totalCount ?? null,
  totalCountIsExact: totalCountIsExact ?? true,
});
