import { signaturesEach } from './bare/signatures.ts';
import { figureOf } from './figures.ts';
import type { Figure } from './part.ts';
import type { Measured } from './run.ts';
import { callNames } from './scenarios/calls.ts';
import { junkNames } from './scenarios/junk-calls.ts';
import { sessionNames } from './scenarios/session-init.ts';
import { validateNames } from './scenarios/validate.ts';

export const callFigureNames = {
  signature: 'an Ed25519 signature, CPU',
  junk: 'junk call, all of it, in signatures',
  junkBeyondHttp: 'junk call, beyond one that is too short, in signatures',
  programStart: 'program start in version 1 (session init and validate), CPU, to one call of version 2',
} as const;

/** Numbers about calls that take more than two scenarios, from the blocks of one round; none that lacks a scenario. */
export function callFigures(measured: readonly Measured[]): Figure[] {
  const costsOf = (name: string) => costsIn(measured, name);
  const signatures = costsOf(junkNames.signatures).map((cost) => cost / signaturesEach);
  const junk = costsOf(junkNames.junk);
  const beyondHttp = combine(junk, costsOf(junkNames.malformed), (cost, least) => cost - least);
  const start = combine(costsOf(sessionNames.service), costsOf(validateNames.service), (a, b) => a + b);
  return [
    ...figure(
      callFigureNames.signature,
      'µs',
      signatures.map((seconds) => seconds * 1e6),
    ),
    ...figure(callFigureNames.junk, 'times', combine(junk, signatures, ratio)),
    ...figure(callFigureNames.junkBeyondHttp, 'times', combine(beyondHttp, signatures, ratio)),
    ...figure(callFigureNames.programStart, 'times', combine(start, costsOf(callNames.service), ratio)),
  ];
}

/** CPU seconds of a request, by round. */
const costsIn = (measured: readonly Measured[], name: string): number[] =>
  (measured.find((each) => each.name === name)?.blocks ?? []).map(
    ({ cpuSeconds, requests }) => cpuSeconds / requests,
  );

const ratio = (cost: number, other: number): number => cost / other;

/** Two lists of values by round, as one. */
const combine = (
  values: readonly number[],
  others: readonly number[],
  by: (value: number, other: number) => number,
): number[] =>
  values.flatMap((value, round) => {
    const other = others[round];
    return other === undefined ? [] : [by(value, other)];
  });

/** None without a round whose CPU time the system's clock has counted. */
function figure(name: string, unit: Figure['unit'], values: readonly number[]): Figure[] {
  const finite = values.filter(Number.isFinite);
  return finite.length === 0 ? [] : [figureOf(name, unit, finite)];
}
