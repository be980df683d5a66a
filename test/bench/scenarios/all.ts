import type { Comparison, Scenario } from '../scenario.ts';
import { callComparisons, callNames, callScenarios } from './calls.ts';
import { dashboardNames, dashboardScenarios } from './dashboard.ts';
import { junkNames, junkScenarios } from './junk-calls.ts';
import { licenseComparisons, licenseScenarioNames, licenseScenarios } from './licenses.ts';
import { loginComparisons, loginNames, loginScenarios } from './login.ts';
import type { Programs } from './programs.ts';
import { sessionComparisons, sessionNames, sessionScenarios } from './session-init.ts';
import { validateComparisons, validateNames, validateScenarios } from './validate.ts';

/** Every scenario of the part that always runs, in the order of the report. */
export const allScenarios = (programs: Programs): Scenario[] => [
  ...validateScenarios(programs),
  ...sessionScenarios(programs),
  ...callScenarios(programs),
  ...junkScenarios(programs),
  ...loginScenarios(programs),
  ...dashboardScenarios(programs.seed),
  ...licenseScenarios(programs.seed),
];

export const allNames: readonly string[] = [
  validateNames,
  sessionNames,
  callNames,
  junkNames,
  loginNames,
  dashboardNames,
  licenseScenarioNames,
].flatMap((names) => Object.values(names));

export const allComparisons: readonly Comparison[] = [
  ...validateComparisons,
  ...sessionComparisons,
  ...callComparisons,
  ...loginComparisons,
  ...licenseComparisons,
];
