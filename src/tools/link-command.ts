import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Links `latchkey` into node_modules/.bin. npm links only the commands of dependencies, not those of the package itself.
 * With a `bin` in package.json, `npx latchkey` would first install and build the whole package in npm's cache.
 */
export function linkCommand(root: string): void {
  const commands = join(root, 'node_modules', '.bin');
  mkdirSync(commands, { recursive: true });
  const main = join(root, 'dist', 'cli', 'main.js');
  if (process.platform === 'win32') {
    writeFileSync(join(commands, 'latchkey.cmd'), '@node "%~dp0\\..\\..\\dist\\cli\\main.js" %*\r\n');
    return;
  }
  chmodSync(main, 0o755);
  const command = join(commands, 'latchkey');
  rmSync(command, { force: true });
  symlinkSync('../../dist/cli/main.js', command);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  linkCommand(fileURLToPath(new URL('../..', import.meta.url)));
}
