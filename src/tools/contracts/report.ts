import { type Contract, type ContractChange, severities } from './contract.ts';

/**
 * Says how a committed contract differs from what the code says: each change that can be named, the first line that
 * differs, and what to do. Null when nothing differs.
 * @param committed empty when there is no file
 */
export async function reportDrift(contract: Contract, committed: string): Promise<string | null> {
  const { path, text, guarded } = contract;
  if (committed === text) return null;
  const changes = await namedChanges(contract, committed);
  const meant = guarded && changes?.some(isBreaking);
  return [
    `${path} is not what the code says.`,
    ...(changes === null ? [] : listChanges(changes)),
    ...firstDifference(committed, text),
    meant
      ? 'Clients depend on what breaks. If that is not meant, mend the code; if it is, run: npm run contracts -- --allow-breaking'
      : 'If the change is meant, run: npm run contracts',
    '',
  ].join('\n');
}

/**
 * Says why a contract is not written over the committed one: it would break clients, or nothing tells whether it
 * would. Null when it may be written, as a first one always may.
 */
export async function refuseBreaking(contract: Contract, committed: string): Promise<string | null> {
  const { path, text, guarded } = contract;
  if (!guarded || committed === '' || committed === text) return null;
  const changes = await namedChanges(contract, committed);
  const breaking = changes?.filter(isBreaking);
  if (breaking?.length === 0) return null;
  return [
    breaking === undefined
      ? `${path} was not written: what is there cannot be read, so that nothing tells what would break.`
      : `${path} was not written: clients that depend on it would break.`,
    ...listChanges(breaking ?? []),
    'If that is meant, run: npm run contracts -- --allow-breaking',
    '',
  ].join('\n');
}

const isBreaking = ({ severity }: ContractChange) => severity === 'breaking';

/** Null when what is committed cannot be read: it is missing, or half merged. */
const namedChanges = (contract: Contract, committed: string) =>
  contract.compare(committed, contract.text).catch(() => null);

/** A line for each, the worst first. */
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
  // The longer of the two, as either may be the other's beginning.
  const longer = before.length > after.length ? before : after;
  const line = longer.findIndex((_content, index) => before[index] !== after[index]);
  return [
    `First difference, line ${line + 1}:`,
    `  committed: ${before[line] ?? '(nothing)'}`,
    `  code:      ${after[line] ?? '(nothing)'}`,
  ];
}
