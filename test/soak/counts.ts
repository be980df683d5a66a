/** What a soak has asked and been answered so far. */
export class Counts {
  requests = 0;
  readonly #verdicts = new Map<string, number>();
  /** What must not be, in words: a wrong verdict, an answer that nobody expects. */
  readonly wrong: string[] = [];
  wrongVerdicts = 0;
  unexpected = 0;

  /** Holds an answer to what it has to be. */
  expect(what: string, answered: string, expected: string): void {
    this.requests += 1;
    this.#verdicts.set(answered, (this.#verdicts.get(answered) ?? 0) + 1);
    if (answered === expected) return;
    if (/^failure|^HTTP/.test(answered)) this.unexpected += 1;
    else this.wrongVerdicts += 1;
    if (this.wrong.length < 20) this.wrong.push(`${what} answered ${answered} in place of ${expected}`);
  }

  /** Refusals by code, the most frequent first. */
  get refusals(): readonly (readonly [string, number])[] {
    return [...this.#verdicts].filter(([code]) => code !== 'OK').toSorted((one, other) => other[1] - one[1]);
  }
}
