import { BREAK, type DocumentNode, Kind, OperationTypeNode, visit } from 'graphql';

/**
 * Whether graphql-jit answers a document exactly as the executor does. It writes a program of the document, and these
 * it gets wrong:
 *
 * - A text. One with its own mark of a date is put into the program as it stands, and is carried out: whoever can
 *   register could run code here. As a default of a date, a text stays one.
 * - A directive. Conditions are noted at the fields of a fragment, and then hold wherever that is spread.
 * - A name with an underscore. Names are joined by it, and `a_b { c }` and `a { b_c }` become one; `__proto__` is no
 *   member like another; introspection is asked too rarely to be tried.
 * - A variable in a list: it may be null where its default was meant. One with the name of a member of every object
 *   (`toString`) is that member when it is left out.
 *
 * Mutations are carried out one after the other, and rarely the same; of several operations one is named each time.
 * Neither is worth a program. What a dashboard asks has none of all this: its values are variables.
 */
export function isCompilable(document: DocumentNode): boolean {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operations.length !== 1) return false;
  let isPlain = true;
  const refuse = (): typeof BREAK => {
    isPlain = false;
    return BREAK;
  };
  const refuseUnderscore = (name: string) => (name.includes('_') ? refuse() : undefined);
  visit(document, {
    OperationDefinition: ({ operation }) => (operation === OperationTypeNode.QUERY ? undefined : refuse()),
    VariableDefinition: ({ variable: { name } }) =>
      name.value in Object.prototype ? refuse() : refuseUnderscore(name.value),
    Directive: refuse,
    StringValue: refuse,
    ListValue: ({ values }) =>
      values.some(({ kind }) => kind !== Kind.INT && kind !== Kind.ENUM) ? refuse() : undefined,
    Field: ({ alias, name }) => {
      const key = alias?.value ?? name.value;
      return key === '__typename' && alias === undefined ? undefined : refuseUnderscore(key + name.value);
    },
  });
  return isPlain;
}
