import type { Comparison, Scenario } from '../scenario.ts';
import type { Seed } from '../seed.ts';
import { licenseComparisons, licenseScenarios } from './licenses.ts';

/** Every scenario, in the order of the report. */
export const allScenarios = (seed: Seed): Scenario[] => [...licenseScenarios(seed)];

export const allComparisons: readonly Comparison[] = [...licenseComparisons];
