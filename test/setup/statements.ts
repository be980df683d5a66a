import type { Client, Pool } from 'pg';

/** The SQL statements that a pool sends, Prisma's and our own, from when this was called. */
export interface StatementLog {
  /** What was sent since the last call. */
  take(): string[];
}

export function logStatements(pool: Pool): StatementLog {
  const watched = new WeakSet<object>();
  let sent: string[] = [];
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query;
    const record = (...args: Parameters<Client['query']>) => {
      const statement: unknown = args[0];
      sent.push(textOf(statement));
      return Reflect.apply(query, client, args);
    };
    Object.assign(client, { query: record });
  });
  return {
    take: () => {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  if (typeof statement === 'object' && statement !== null && 'text' in statement)
    return String(statement.text);
  return '';
}
