/** A file that is committed beside the code that it is printed from, so that a change of it is seen. */
export interface Contract {
  readonly path: string;
  /** What the code says. */
  readonly text: string;
  /**
   * Names what changed for those who hold to the contract.
   * @throws {Error} when what is committed cannot be read as such a contract
   */
  compare(committed: string, text: string): Promise<readonly ContractChange[]>;
  /** Whether a breaking change is written only when it is said to be meant. */
  readonly guarded: boolean;
}

/** From the worst to the harmless. */
export const severities = ['breaking', 'dangerous', 'not breaking'] as const;
export type Severity = (typeof severities)[number];

export interface ContractChange {
  readonly severity: Severity;
  /** One line that says what changed, and where. */
  readonly message: string;
}
