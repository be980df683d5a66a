import type { BlockOptions } from './block.ts';
import type { PartContext } from './part.ts';
import { type Measured, runScenarios } from './run.ts';
import type { Scenario } from './scenario.ts';
import { type ServiceProcess, withOutput } from './service.ts';

/**
 * Drives scenarios as the command line says.
 * @throws {Error} at the first answer that is not right, with what `service` said last
 */
export const drive = (
  scenarios: readonly Scenario[],
  targets: BlockOptions['targets'],
  service: ServiceProcess,
  { options, signal }: Pick<PartContext, 'options' | 'signal'>,
): Promise<Measured[]> =>
  runScenarios(scenarios, {
    targets,
    connections: options.connections,
    seconds: options.secondsPerBlock,
    blocks: options.blocks,
    signal,
  }).catch(withOutput(service));
