import type { Command } from 'commander';
import { loadDataConfig } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createDeveloper } from '../../services/auth/create-developer.ts';
import { newDeveloper } from '../../services/auth/fields.ts';
import { describeAddress, inMemoryDatabaseError } from '../database.ts';
import { checkAccount, receivePassword } from '../new-password.ts';
import { openAccounts } from '../open-accounts.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly email: string;
  readonly name: string;
  readonly passwordStdin?: boolean;
}

const refusal = 'The account cannot be created';

export function addCreateDeveloperCommand(program: Command, terminal: Terminal): void {
  program
    .command('create-developer')
    .description('create a developer account, even if registration is closed')
    .requiredOption('--email <address>', 'the email address to log in with')
    .requiredOption('--name <name>', "the developer's name")
    .option('--password-stdin', 'read the password as one line from standard input, without a prompt')
    .action(async ({ email, name, passwordStdin: isOnStdin = false }: Options) => {
      const config = loadDataConfig(terminal.env);
      if (config.database.kind === 'memory') throw inMemoryDatabaseError();
      // Report invalid options before asking for a password.
      const account = checkAccount(newDeveloper.omit({ password: true }).safeParse({ email, name }), refusal);
      const password = await receivePassword(terminal, { isOnStdin, refusal });
      const database = await openAccounts(config, 'create the account', terminal);
      try {
        // The security log entry has no address, because there is no request.
        const ctx = {
          env: { database, clock: systemClock },
          actor: { type: 'operator' as const },
          client: { ip: null, country: null },
        };
        const input = { ...account, password };
        const { developer } = await createDeveloper({ ctx, input }, async () => undefined);
        say(terminal.stdout, `${developer.id} ${developer.email}`);
        say(terminal.stderr, `Created an account in ${describeAddress(config.database)}.`);
      } finally {
        await database.close();
      }
    });
}
