import type { ExecutionResult, GraphQLError } from 'graphql';

/**
 * An answer whose errors are one for each null that they left, in the order of the document. The GraphQL specification
 * (6.4.4) asks for one where several fields empty the same place; which one, and in what order, depends on who
 * executes, and that is not for a reader to see.
 */
export function oneErrorForEachNull(result: ExecutionResult): ExecutionResult {
  const { data, errors } = result;
  if (errors === undefined || data === undefined || errors.some(({ path }) => path === undefined))
    return result;
  const places = new Set<string>();
  const first = [...errors].sort(inOrder).filter(({ path = [] }) => {
    const place = JSON.stringify(placeOfNull(data, path));
    const isFirst = !places.has(place);
    places.add(place);
    return isFirst;
  });
  return { ...result, errors: first, data };
}

type Path = NonNullable<GraphQLError['path']>;

/** How far a path leads: to the null that an error at its end has left. */
function placeOfNull(data: unknown, path: Path): Path {
  let reached = data;
  const length = path.findIndex((key) => {
    if (typeof reached !== 'object' || reached === null) return true;
    reached = Reflect.get(reached, key);
    return false;
  });
  return length === -1 ? path : path.slice(0, length);
}

/** By the field in the document, and then by the row of the list. */
function inOrder(left: GraphQLError, right: GraphQLError): number {
  const byField = (left.positions?.[0] ?? 0) - (right.positions?.[0] ?? 0);
  return byField === 0 ? compareRows(rowsOf(left), rowsOf(right)) : byField;
}

const rowsOf = ({ path = [] }: GraphQLError) => path.filter((key) => typeof key === 'number');

function compareRows(left: readonly number[], right: readonly number[]): number {
  for (const [index, row] of left.entries()) {
    const difference = row - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
