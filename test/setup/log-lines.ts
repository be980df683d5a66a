import type { z } from 'zod';
import type { ServiceProcess } from './process.ts';

/** The lines of a service's log whose message begins like this. */
export const logLinesOf = <Line extends { readonly msg: string }>(
  service: Pick<ServiceProcess, 'output'>,
  line: z.ZodType<Line>,
  msg: string,
): Line[] =>
  service
    .output()
    .split('\n')
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
    .map((text) => line.parse(JSON.parse(text)))
    .filter((parsed) => parsed.msg.startsWith(msg));
