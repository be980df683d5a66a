import type { BenchOptions } from './options.ts';
import type { Measured, Refused } from './run.ts';
import type { Comparison } from './scenario.ts';
import type { Undo } from './undo.ts';

/** A part of a run: what it starts, drives and reports together, apart from the other parts. */
export interface Part {
  /** What it can measure, by the names that `--only` chooses from. */
  readonly names: readonly string[];
  measure(context: PartContext): Promise<PartFindings>;
}

export interface PartContext {
  readonly options: BenchOptions;
  /** Ends and removes, after this part, what it has started and made. */
  readonly undo: Undo;
  readonly signal: AbortSignal;
  /** Whether it was chosen. */
  readonly isWanted: (named: { readonly name: string }) => boolean;
  readonly say: (line: string) => void;
}

export interface PartFindings {
  readonly measured: readonly Measured[];
  readonly refused: readonly Refused[];
  readonly comparisons: readonly Comparison[];
  readonly figures: readonly Figure[];
}

/** A number that is no scenario's. */
export interface Figure {
  readonly name: string;
  readonly unit: 's' | 'ms' | 'µs' | 'MiB' | 'times' | 'rows' | 'a second';
  /** The middle, where it was taken several times. */
  readonly value: number;
  readonly least?: number;
  readonly most?: number;
}

export const noFindings: PartFindings = { measured: [], refused: [], comparisons: [], figures: [] };
