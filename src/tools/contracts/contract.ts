/** A committed file that is generated from the code, so that a review shows its changes. */
export interface Contract {
  readonly path: string;
  /** The text generated from the current code. */
  readonly text: string;
  /**
   * Lists the changes for users of the contract.
   * @throws {Error} when the committed text is not a valid contract
   */
  compare(committed: string, text: string): Promise<readonly ContractChange[]>;
  /** Whether writing a breaking change requires `--allow-breaking`. */
  readonly guarded: boolean;
}

/** In descending order of severity. */
export const severities = ['breaking', 'dangerous', 'not breaking'] as const;
export type Severity = (typeof severities)[number];

export interface ContractChange {
  readonly severity: Severity;
  /** One line about what changed, and where. */
  readonly message: string;
}
