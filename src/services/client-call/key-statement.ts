import { concatBytes } from '../../protocol/bytes.ts';
import { type ServiceKey, signedStatement, statementBody } from '../../protocol/v2/key-statement.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';

interface Signed {
  readonly notBefore: number;
  readonly statement: Uint8Array;
}

/** The last statement of each cached application: it is signed once, however often it is asked for. */
const signed = new WeakMap<ApplicationSnapshot, Signed>();

/** The statement about a service key for the clients of one application. All instances sign the same bytes. */
export function statementFor(application: ApplicationSnapshot, key: ServiceKey): Uint8Array {
  const last = signed.get(application);
  if (last !== undefined && last.notBefore === key.notBefore) return last.statement;
  const body = statementBody(key);
  const statement = concatBytes(application.signer.sign(signedStatement(application.id, body)), body);
  signed.set(application, { notBefore: key.notBefore, statement });
  return statement;
}
