import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { createSchema } from 'graphql-yoga';
import type { ContractChange, Severity } from './contract.ts';

const severityOf: Record<CriticalityLevel, Severity> = {
  [CriticalityLevel.Breaking]: 'breaking',
  [CriticalityLevel.Dangerous]: 'dangerous',
  [CriticalityLevel.NonBreaking]: 'not breaking',
};

/**
 * Names what changed between two GraphQL schemas, as SDL.
 * @throws {Error} when one of them is no schema
 */
export async function compareSchemas(before: string, after: string): Promise<readonly ContractChange[]> {
  return (await diff(readSchema(before), readSchema(after))).map(nameChange);
}

/** By Yoga, as it loads the same copy of graphql as the inspector does: a schema of another copy is none to it. */
const readSchema = (typeDefs: string) => createSchema({ typeDefs });

const nameChange = ({ criticality, message }: Change): ContractChange => ({
  severity: severityOf[criticality.level],
  // A description is told whole, over many lines.
  message: shorten(message.replaceAll(/\s+/g, ' ')),
});

const longest = 240;
const shorten = (message: string) =>
  message.length > longest ? `${message.slice(0, longest - 1)}…` : message;
