/** Where the database is: an embedded one in a directory or in memory, or a PostgreSQL server (15 or newer). */
export type DatabaseAddress =
  | { readonly kind: 'embedded'; readonly directory: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'server'; readonly url: string };
