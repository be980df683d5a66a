import { strongEtag } from '../../crypto/strong-etag.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { type ServiceKey, signedStatement, statementBody } from '../../protocol/v2/key-statement.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';

/** A signed key statement, as it is served. */
export interface KeyStatement {
  readonly bytes: Uint8Array;
  /** See `strongEtag`. */
  readonly etag: string;
}

interface Signed {
  readonly notBefore: number;
  readonly statement: KeyStatement;
}

/** The last statement of each cached application: it is signed once, however often it is asked for. */
const signed = new WeakMap<ApplicationSnapshot, Signed>();

/** The statement about a service key for the clients of one application. All instances sign the same bytes. */
export function statementFor(application: ApplicationSnapshot, key: ServiceKey): KeyStatement {
  const last = signed.get(application);
  if (last !== undefined && last.notBefore === key.notBefore) return last.statement;
  const body = statementBody(key);
  const bytes = concatBytes(application.signer.sign(signedStatement(application.id, body)), body);
  const statement = { bytes, etag: strongEtag(bytes) };
  signed.set(application, { notBefore: key.notBefore, statement });
  return statement;
}
