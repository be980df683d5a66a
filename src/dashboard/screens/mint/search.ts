/** What the screen's URL may preset. Keys are never in a URL. */
export interface MintSearch {
  /** The id of a policy. */
  readonly policy?: string;
}

export const readMintSearch = ({ policy }: Record<string, unknown>): MintSearch =>
  typeof policy === 'string' && policy !== '' ? { policy } : {};
