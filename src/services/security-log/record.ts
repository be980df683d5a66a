import type { Prisma } from '../../db/client.ts';
import type { RecordingContext } from '../context.ts';
import type { SecurityLogInput } from './entry.ts';
import { recordSecurityEvents } from './record-all.ts';

/** Records one action of a developer; see `recordSecurityEvents`. */
export const recordSecurityEvent = (
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  input: SecurityLogInput,
): Promise<void> => recordSecurityEvents(ctx, transaction, [input]);
