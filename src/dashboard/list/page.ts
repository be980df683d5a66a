/** A page of a connection, as lists need it. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
  readonly totalCount: number;
  readonly totalCountIsExact: boolean;
}

interface Connection<Node> {
  readonly edges: readonly { readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null };
  readonly totalCount: number;
  readonly totalCountIsExact: boolean;
}

/** Reads a connection that selects `edges { node }`, `pageInfo { endCursor hasNextPage }` and both counts. */
export const pageOf = <Node>({
  edges,
  pageInfo,
  totalCount,
  totalCountIsExact,
}: Connection<Node>): Page<Node> => ({
  rows: edges.map(({ node }) => node),
  endCursor: pageInfo.endCursor ?? null,
  hasNextPage: pageInfo.hasNextPage,
  totalCount,
  totalCountIsExact,
});
