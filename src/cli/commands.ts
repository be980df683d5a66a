import type { Command } from 'commander';
import { addMigrateCommand } from './commands/migrate.ts';
import type { Terminal } from './terminal.ts';

/** Each adds a command to the program, in the order of `latchkey --help`. */
export const commands: readonly ((program: Command, terminal: Terminal) => void)[] = [addMigrateCommand];
