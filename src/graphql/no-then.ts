import type { FieldNode, ValidationContext } from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';

/**
 * Refuses `then` as an alias. The executor detects a promise by a member of that name, as `await` does: it would take the
 * object of the answer for a promise, and call the value of the aliased field.
 */
export const refuseThen: Plugin = {
  onValidate: ({ addValidationRule }) => {
    addValidationRule((context: ValidationContext) => ({
      Field(node: FieldNode) {
        if (node.alias?.value !== 'then') return;
        context.reportError(
          createGraphQLError('"then" cannot be an alias. Choose another name.', { nodes: [node] }),
        );
      },
    }));
  },
};
