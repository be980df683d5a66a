import type { Comparison, Scenario } from '../scenario.ts';
import { dashboardNames, dashboardScenarios } from './dashboard.ts';
import { licenseComparisons, licenseScenarioNames, licenseScenarios } from './licenses.ts';
import { loginComparisons, loginNames, loginScenarios } from './login.ts';
import type { Programs } from './programs.ts';
import { sessionComparisons, sessionNames, sessionScenarios } from './session-init.ts';
import { validateComparisons, validateNames, validateScenarios } from './validate.ts';

/** Every scenario of the part that always runs, in the order of the report. */
export const allScenarios = (programs: Programs): Scenario[] => [
  ...validateScenarios(programs),
  ...sessionScenarios(programs),
  ...loginScenarios(programs),
  ...dashboardScenarios(programs.seed),
  ...licenseScenarios(programs.seed),
];

export const allNames: readonly string[] = [
  validateNames,
  sessionNames,
  loginNames,
  dashboardNames,
  licenseScenarioNames,
].flatMap((names) => Object.values(names));

export const allComparisons: readonly Comparison[] = [
  ...validateComparisons,
  ...sessionComparisons,
  ...loginComparisons,
  ...licenseComparisons,
];
