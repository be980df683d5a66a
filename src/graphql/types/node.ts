import type { ListRow } from '../../services/list-source.ts';
import { builder } from '../builder.ts';

/** Relay's Node. Its id is the UUID of REST: no type is encoded in it. */
export const Node = builder.interfaceRef<ListRow>('Node').implement({
  description: 'An object with an id. Fetch it again with `node`.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'UUID, the same as in REST.' }) }),
});
