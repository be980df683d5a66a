import { callFigures } from '../call-figures.ts';
import { drive } from '../drive.ts';
import { figureNames, logCheck, timeLargeMint } from '../figures.ts';
import type { Part, PartContext, PartFindings } from '../part.ts';
import { type FilledService, startBareBeside, startFilled } from '../programs.ts';
import { sortOut } from '../run.ts';
import type { Scenario } from '../scenario.ts';
import { allComparisons, allNames, allScenarios } from '../scenarios/all.ts';

/** What each kind of request costs, on a database of usual size. */
export const requests: Part = {
  names: [...allNames, ...Object.values(figureNames)],
  measure: async (context) => {
    const filled = await startFilled(context);
    const programs = await startBareBeside(filled, context);
    const scenarios = allScenarios(programs).filter(context.isWanted);
    return findingsOf(scenarios, filled, {
      ...context,
      targets: { service: filled.service, bare: programs.bare },
    });
  },
};

async function findingsOf(
  scenarios: readonly Scenario[],
  { service, seed }: FilledService,
  { options, signal, say, isWanted, targets }: PartContext & { targets: Parameters<typeof sortOut>[1] },
): Promise<PartFindings> {
  const check = await logCheck(seed, scenarios);
  const { answered, refused } = await sortOut(check.scenarios, targets);
  say(
    `Driving ${answered.length} scenarios, blocks of ${options.secondsPerBlock} s each, ${options.blocks} and the first ones …`,
  );
  const measured = await drive(answered, targets, service, { options, signal });
  const figures = [
    ...(await check.figures()),
    ...callFigures(measured),
    ...(isWanted({ name: figureNames.mint }) ? [await timeLargeMint(service.port, seed)] : []),
  ];
  return { measured, refused, comparisons: allComparisons, figures };
}
