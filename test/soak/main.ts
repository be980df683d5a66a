import { writeFile } from 'node:fs/promises';
import { createUndo } from '../bench/undo.ts';
import { runTool, UsageError } from '../setup/command-line.ts';
import { help, parseOptions, type SoakOptions } from './options.ts';
import { soak } from './soak.ts';

/** `npm run soak`. See the README beside this file. */
async function run(options: SoakOptions): Promise<number> {
  const undo = createUndo();
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new UsageError(`Interrupted by ${signal}`)));
  });
  try {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const report = await Promise.race([soak(options, undo, say), interrupted]);
    if (options.jsonFile !== null) await writeFile(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    const { requests, minutes, wrongVerdicts, unexpected, faults } = report;
    process.stdout.write(
      `${requests} requests in ${minutes.toFixed(1)} minutes; ${wrongVerdicts} wrong verdicts, ${unexpected} unexpected answers.\n` +
        `${faults.length === 0 ? 'All well: memory is flat, no transaction idles.' : faults.join('\n')}\n`,
    );
    return faults.length === 0 ? 0 : 1;
  } finally {
    await undo.all();
  }
}

runTool({ help, parse: parseOptions, run });
