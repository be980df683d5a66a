import type { Comparison, Scenario } from '../scenario.ts';
import { licenseComparisons, licenseScenarios } from './licenses.ts';
import type { Programs } from './programs.ts';
import { validateComparisons, validateScenarios } from './validate.ts';

/** Every scenario, in the order of the report. */
export const allScenarios = (programs: Programs): Scenario[] => [
  ...validateScenarios(programs),
  ...licenseScenarios(programs.seed),
];

export const allComparisons: readonly Comparison[] = [...validateComparisons, ...licenseComparisons];
