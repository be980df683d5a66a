import type { Command } from 'commander';
import { loadDataConfig } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { resetPassword } from '../../services/account/reset-password.ts';
import { newDeveloper } from '../../services/auth/fields.ts';
import { describeAddress, hasEmbeddedDatabase, inMemoryDatabaseError } from '../database.ts';
import { CommandError } from '../failure.ts';
import { checkAccount, receivePassword } from '../new-password.ts';
import { openAccounts } from '../open-accounts.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly email: string;
  readonly passwordStdin?: boolean;
  readonly removeTotp?: boolean;
}

const refusal = 'The password cannot be set';

export function addResetPasswordCommand(program: Command, terminal: Terminal): void {
  program
    .command('reset-password')
    .description("set a developer's password and end their sessions")
    .requiredOption('--email <address>', 'the email address that the developer logs in with')
    .option('--password-stdin', 'read the password as one line from standard input, without a prompt')
    .option(
      '--remove-totp',
      'also turn TOTP off, for a developer who has lost the app and the recovery codes',
    )
    .action(async ({ email, passwordStdin: isOnStdin = false, removeTotp = false }: Options) => {
      const config = loadDataConfig(terminal.env);
      const { database: address } = config;
      if (address.kind === 'memory') throw inMemoryDatabaseError();
      if (address.kind === 'embedded' && !hasEmbeddedDatabase(address.directory)) {
        throw new CommandError(
          `There is no database in ${address.directory}: set DATA_DIR or DATABASE_URL to the service's value.`,
        );
      }
      const account = checkAccount(newDeveloper.pick({ email: true }).safeParse({ email }), refusal);
      const password = await receivePassword(terminal, { isOnStdin, refusal });
      const database = await openAccounts(config, 'set the password', terminal);
      try {
        const ctx = {
          env: { database, clock: systemClock },
          actor: { type: 'operator' as const },
          client: { ip: null, country: null },
        };
        const input = { email: account.email, password, removeTotp };
        const reset = await resetPassword({ ctx, input });
        if (reset === null) {
          throw new CommandError(
            `No account in ${describeAddress(address)} has the email address ${account.email}. Nothing was changed.`,
          );
        }
        say(terminal.stdout, `${reset.developer.id} ${reset.developer.email}`);
        say(
          terminal.stderr,
          `Set a new password in ${describeAddress(address)}. All session cookies of the account are now invalid. Its ` +
            'API keys are still valid: log in to revoke them.',
        );
        if (reset.hasTotp) {
          say(
            terminal.stderr,
            'A login still needs a TOTP code or a recovery code. If both are lost, run this again with --remove-totp.',
          );
        }
      } finally {
        await database.close();
      }
    });
}
