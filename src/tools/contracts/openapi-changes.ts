import { z } from 'zod';
import type { ContractChange } from './contract.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/**
 * Lists the operations that were added and removed between two OpenAPI documents. A renamed operation is in both lists.
 * @throws {Error} when a text is not an OpenAPI document
 */
export async function compareOperations(before: string, after: string): Promise<readonly ContractChange[]> {
  const [old, current] = [operationsOf(before), operationsOf(after)];
  const missing = (from: readonly string[], name: string) => !from.includes(name);
  return [
    ...old
      .filter((name) => missing(current, name))
      .map((name) => ({ severity: 'breaking', message: `Operation ${name} was removed` }) as const),
    ...current
      .filter((name) => missing(old, name))
      .map((name) => ({ severity: 'not breaking', message: `Operation ${name} was added` }) as const),
  ];
}

function operationsOf(text: string): string[] {
  const { paths } = document.parse(JSON.parse(text));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => methods.includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}
