/** What a run has started and made, to be ended and removed in reverse whatever happens. */
export interface Undo {
  add(step: () => Promise<void>): void;
  /** Takes every step, also after one that failed. @throws {AggregateError} of those that failed */
  all(): Promise<void>;
}

export function createUndo(): Undo {
  const steps: (() => Promise<void>)[] = [];
  return {
    add: (step) => void steps.push(step),
    all: async () => {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        await step().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw new AggregateError(failures, 'Not all of the run could be removed');
    },
  };
}
