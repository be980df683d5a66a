import type { Client, Pool } from 'pg';
import { liftStatementTimeout } from '../../src/db/session-settings.ts';

/**
 * Records the SQL statements that a pool sends for requests from this call on. Background transactions of the service are
 * omitted, and so is what notes when sessions were last seen.
 */
export interface StatementLog {
  /** Statements since the last call. */
  take(): string[];
}

/** Of sessions: written at most once a minute, whenever that is. */
const notesUse = /UPDATE account_sessions SET last_seen_at/;

export function logStatements(pool: Pool): StatementLog {
  const watched = new WeakSet<object>();
  let sent: string[] = [];
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query;
    let isOfService = false;
    const record = (...args: Parameters<Client['query']>) => {
      const text = textOf(args[0]);
      if (text.startsWith(`BEGIN; ${liftStatementTimeout}`)) isOfService = true;
      if (!isOfService && !notesUse.test(text)) sent.push(text);
      if (text === 'COMMIT' || text === 'ROLLBACK') isOfService = false;
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

/**
 * Records the statements that a pool sends until `stop`, as passed to a connection: text and values, or an object of both.
 */
export function recordCalls(pool: Pool): { readonly sent: unknown[][]; stop(): void } {
  const sent: unknown[][] = [];
  const watched = new Map<Client, Client['query']>();
  const watch = (client: Client) => {
    if (watched.has(client)) return;
    const { query } = client;
    watched.set(client, query);
    const record = (...args: unknown[]) => {
      sent.push(args);
      return Reflect.apply(query, client, args);
    };
    Object.assign(client, { query: record });
  };
  pool.on('acquire', watch);
  return {
    sent,
    stop: () => {
      pool.off('acquire', watch);
      for (const [client, query] of watched) Object.assign(client, { query });
    },
  };
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  if (typeof statement === 'object' && statement !== null && 'text' in statement)
    return String(statement.text);
  return '';
}
