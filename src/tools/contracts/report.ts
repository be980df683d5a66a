import { type Contract, type ContractChange, severities } from './contract.ts';

/**
 * Describes how a committed contract differs from the code: the changes, the first line that differs, and what to do.
 * @param committed empty if there is no file
 * @returns null if there is no difference
 */
export async function reportDrift(contract: Contract, committed: string): Promise<string | null> {
  const { path, text, guarded } = contract;
  if (committed === text) return null;
  const changes = await namedChanges(contract, committed);
  const isRefused = guarded && changes?.some(isBreaking);
  return [
    `${path} does not match the code.`,
    ...(changes === null ? [] : listChanges(changes)),
    ...firstDifference(committed, text),
    isRefused
      ? 'This breaks clients. Fix the code; or, if it is intended, run: npm run contracts -- --allow-breaking'
      : 'If the change is intended, run: npm run contracts',
    '',
  ].join('\n');
}

/**
 * Explains why a contract must not replace the committed one: it would break clients, or the committed one is invalid, so
 * that this is unknown.
 * @returns null if it may be written; a first one always may
 */
export async function refuseBreaking(contract: Contract, committed: string): Promise<string | null> {
  const { path, text, guarded } = contract;
  if (!guarded || committed === '' || committed === text) return null;
  const changes = await namedChanges(contract, committed);
  const breaking = changes?.filter(isBreaking);
  if (breaking?.length === 0) return null;
  return [
    breaking === undefined
      ? `${path} was not written: the existing file cannot be read, so breaking changes are unknown.`
      : `${path} was not written: it would break clients.`,
    ...listChanges(breaking ?? []),
    'If this is intended, run: npm run contracts -- --allow-breaking',
    '',
  ].join('\n');
}

const isBreaking = ({ severity }: ContractChange) => severity === 'breaking';

/** Null if the committed file is missing or invalid, for example because of a merge conflict. */
const namedChanges = (contract: Contract, committed: string) =>
  contract.compare(committed, contract.text).catch(() => null);

/** One line per change, in descending order of severity. */
function listChanges(changes: readonly ContractChange[]): string[] {
  const width = Math.max(...severities.map((severity) => severity.length));
  return severities.flatMap((severity) =>
    changes
      .filter((change) => change.severity === severity)
      .map(({ message }) => `  ${severity.padEnd(width)}  ${message}`),
  );
}

function firstDifference(committed: string, text: string): string[] {
  const [before, after] = [committed.split('\n'), text.split('\n')];
  // The longer text, because one may be a prefix of the other.
  const longer = before.length > after.length ? before : after;
  const line = longer.findIndex((_content, index) => before[index] !== after[index]);
  return [
    `First difference, line ${line + 1}:`,
    `  committed: ${before[line] ?? '(nothing)'}`,
    `  code:      ${after[line] ?? '(nothing)'}`,
  ];
}
