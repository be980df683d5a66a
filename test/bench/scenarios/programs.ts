import type { ClientOptions } from '../../../src/sdk/index.ts';
import type { Seed } from '../seed.ts';

/** What scenarios are made for: the programs that a run has started, and what they know. */
export interface Programs {
  readonly seed: Seed;
  /** What client software is built with that asks each of them. */
  readonly clients: Readonly<Record<'service' | 'bare', ClientOptions>>;
}
