import type { Command } from 'commander';
import { loadDataConfig } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createDeveloper } from '../../services/auth/create-developer.ts';
import { newDeveloper } from '../../services/auth/fields.ts';
import { describeAddress, keptNowhere } from '../database.ts';
import { checkAccount, receivePassword } from '../new-password.ts';
import { openAccounts } from '../open-accounts.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly email: string;
  readonly name: string;
  readonly passwordStdin?: boolean;
}

const refusal = 'The account cannot be made';

export function addCreateDeveloperCommand(program: Command, terminal: Terminal): void {
  program
    .command('create-developer')
    .description("make a developer's account, also where registration is closed")
    .requiredOption('--email <address>', 'the address to log in with')
    .requiredOption('--name <name>', 'what to call the developer')
    .option(
      '--password-stdin',
      'read the password from standard input, as one line, instead of asking for it',
    )
    .action(async ({ email, name, passwordStdin: isOnStdin = false }: Options) => {
      const config = loadDataConfig(terminal.env);
      if (config.database.kind === 'memory') throw keptNowhere();
      // What is wrong with the options is said before anybody types a password.
      const account = checkAccount(newDeveloper.omit({ password: true }).safeParse({ email, name }), refusal);
      const password = await receivePassword(terminal, { isOnStdin, refusal });
      const database = await openAccounts(config, 'make the account', terminal);
      try {
        // An account that nobody has asked for over a network: the log has no address for it.
        const ctx = { env: { database, clock: systemClock }, client: { ip: null, country: null } };
        const developer = await createDeveloper({ ctx, input: { ...account, password } });
        say(terminal.stdout, `${developer.id} ${developer.email}`);
        say(terminal.stderr, `Made an account in ${describeAddress(config.database)}.`);
      } finally {
        await database.close();
      }
    });
}
