/** Where the database is: a directory of ours, this process's memory, or a PostgreSQL server (15 or newer). */
export type DatabaseAddress =
  | { readonly kind: 'embedded'; readonly directory: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'server'; readonly url: string };
