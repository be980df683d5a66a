import type { Command } from 'commander';
import { addBackupCommand } from './commands/backup.ts';
import { addCreateDeveloperCommand } from './commands/create-developer.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEventsCommand } from './commands/events.ts';
import { addLeaseCommand } from './commands/lease.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addResetPasswordCommand } from './commands/reset-password.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addRotateSecretCommand } from './commands/rotate-secret.ts';
import type { Terminal } from './terminal.ts';

/** Each function adds one command to the program. Their order is the order in `latchkey --help`. */
export const commands: readonly ((program: Command, terminal: Terminal) => void)[] = [
  addMigrateCommand,
  addBackupCommand,
  addRestoreCommand,
  addDoctorCommand,
  addRotateSecretCommand,
  addCreateDeveloperCommand,
  addResetPasswordCommand,
  addLeaseCommand,
  addEventsCommand,
];
