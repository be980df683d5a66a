import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { createSchema } from 'graphql-yoga';
import type { ContractChange, Severity } from './contract.ts';

const severityOf: Record<CriticalityLevel, Severity> = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'not breaking',
};

/**
 * Lists the changes between two GraphQL schemas in SDL.
 * @throws {Error} when a text is not a valid schema
 */
export async function compareSchemas(before: string, after: string): Promise<readonly ContractChange[]> {
  return (await diff(readSchema(before), readSchema(after))).map(nameChange);
}

/** Uses Yoga, which loads the same copy of graphql as the inspector: the inspector rejects schemas of another copy. */
const readSchema = (typeDefs: string) => createSchema({ typeDefs });

const nameChange = ({ criticality, message }: Change): ContractChange => ({
  severity: severityOf[criticality.level],
  // A message may contain a whole description of many lines.
  message: shorten(message.replaceAll(/\s+/g, ' ')),
});

const maxLength = 240;
const shorten = (message: string) =>
  message.length > maxLength ? `${message.slice(0, maxLength - 1)}…` : message;
