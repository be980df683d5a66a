import type { FieldNode, ValidationContext } from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';

/**
 * Refuses `then` as the name of a member of an answer: the executor takes an object that has it for a promise, and
 * calls the text that stands there.
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
