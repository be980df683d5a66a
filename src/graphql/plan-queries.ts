import { type ExecutionArgs, getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { firstOrElse } from './end-work.ts';
import { planQuery, type QueryPlan } from './query-plan.ts';
import { runQueryPlan } from './run-query-plan.ts';

/**
 * Answers queries that come again by a plan of them, and whatever a plan has no answer to by the executor, from the
 * beginning: queries change nothing, so that one may be begun twice.
 *
 * A document that comes a second time is one that is kept (kept-documents.ts); its plan goes when it goes.
 */
export function planQueries(): Plugin {
  const seen = new WeakSet<OperationDefinitionNode>();
  const plans = new WeakMap<OperationDefinitionNode, QueryPlan | null>();
  const planOf = (args: ExecutionArgs): QueryPlan | null => {
    const operation = getOperationAST(args.document, args.operationName);
    if (!operation) return null;
    const known = plans.get(operation);
    if (known !== undefined) return known;
    if (!seen.has(operation)) {
      seen.add(operation);
      return null;
    }
    const plan = planQuery(args.schema, args.document, operation);
    plans.set(operation, plan);
    return plan;
  };
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) => {
      const plan = planOf(args);
      if (plan === null) return;
      setExecuteFn((args: ExecutionArgs) => firstOrElse(args, (args) => runQueryPlan(plan, args), executeFn));
    },
  };
}
