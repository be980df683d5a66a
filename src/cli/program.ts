import { Command, CommanderError } from 'commander';
import { version } from '../lib/version.ts';
import { commands } from './commands.ts';
import { describeFailure, exitCodes } from './failure.ts';
import { say, type Terminal } from './terminal.ts';

const afterHelp = `
Commands read the same environment variables as the service: DATA_DIR or DATABASE_URL selects the database.
Exit codes: 0 on success, 1 on failure, 2 on a usage error.`;

function createProgram(terminal: Terminal): Command {
  const program = new Command('latchkey')
    .description("Manages a Latchkey service's database and accounts.")
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', afterHelp)
    .showHelpAfterError('Run "latchkey --help" for a list of commands and options.')
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .exitOverride();
  for (const add of commands) add(program, terminal);
  return program;
}

/**
 * Runs one command. A failure is reported on the terminal's standard error.
 * @param words the arguments after `latchkey`
 * @returns the exit code, one of `exitCodes`
 */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(words, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander has already printed the usage error, the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    say(terminal.stderr, terminal.signal.aborted ? 'Cancelled before it was done.' : describeFailure(error));
    if (terminal.env.LOG_LEVEL === 'debug' && error instanceof Error) {
      say(terminal.stderr, error.stack ?? '');
    }
    return exitCodes.failed;
  }
}
