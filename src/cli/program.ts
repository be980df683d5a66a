import { Command, CommanderError } from 'commander';
import { version } from '../lib/version.ts';
import { commands } from './commands.ts';
import { describeFailure, exitCodes } from './failure.ts';
import { say, type Terminal } from './terminal.ts';

const afterHelp = `
Commands are configured by the same environment variables as the service: DATA_DIR or DATABASE_URL says which
database is meant. They exit with 0 when done, with 1 when they failed, with 2 when they were asked wrongly.`;

function createProgram(terminal: Terminal): Command {
  const program = new Command('latchkey')
    .description("Looks after a Latchkey service's database.")
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .helpCommand('help [command]', 'print what a command does')
    .addHelpText('after', afterHelp)
    .showHelpAfterError('Ask "latchkey --help" for what there is.')
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .exitOverride();
  for (const add of commands) add(program, terminal);
  return program;
}

/**
 * Runs one command to its end, and says why when it fails.
 * @param words what follows `latchkey`
 * @returns the exit code
 */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(words, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander has said what was wrong, or has printed what was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    say(terminal.stderr, terminal.signal.aborted ? 'Ended before it was done.' : describeFailure(error));
    if (terminal.env.LOG_LEVEL === 'debug' && error instanceof Error) {
      say(terminal.stderr, error.stack ?? '');
    }
    return exitCodes.failed;
  }
}
