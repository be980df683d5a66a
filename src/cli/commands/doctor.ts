import type { Command } from 'commander';
import { examine } from '../doctor/examine.ts';
import type { Finding, Level } from '../doctor/finding.ts';
import { CommandError } from '../failure.ts';
import { say, type Terminal } from '../terminal.ts';

const words: Readonly<Record<Level, string>> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description('check configuration, database, Redis, clocks and master secret, and advise on problems')
    .option('--json', 'print one JSON object: ok, and findings with check, level and message')
    .addHelpText(
      'after',
      '\nThe command changes nothing and can run while the service runs. It exits with 1 if a check fails.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings: Finding[] = [];
      for await (const finding of examine(terminal)) {
        terminal.signal.throwIfAborted();
        findings.push(finding);
        if (!json) say(terminal.stdout, `${words[finding.level]}  ${finding.check}: ${finding.message}`);
      }
      const failed = findings.filter(({ level }) => level === 'fail').length;
      if (json) say(terminal.stdout, JSON.stringify({ ok: failed === 0, findings }, null, 2));
      if (failed > 0) throw new CommandError(`${failed} of ${findings.length} checks failed.`);
    });
}
