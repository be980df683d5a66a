import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { findOwnRows } from '../find-own-rows.ts';
import type { ListTable } from '../list-source.ts';
import { accountDeleted } from '../transaction.ts';

/** How an account is protected besides its password. No secret is read. */
export interface SecurityRow {
  readonly id: string;
  readonly totpEnabled: boolean;
  readonly recoveryCodesLeft: number;
  readonly requireConfirmation: boolean;
}

export type Security = Omit<SecurityRow, 'id'>;

export const securityTable = {
  name: 'developers',
  columns: {
    id: 'developers.id',
    totpEnabled: 'developers.totp_enabled_at IS NOT NULL',
    recoveryCodesLeft: '(SELECT count(*)::int FROM recovery_codes WHERE developer_id = developers.id)',
    requireConfirmation: 'developers.require_confirmation',
  } satisfies Record<keyof SecurityRow, string>,
  fromJson: {},
  developerId: 'developers.id',
  applicationId: null,
  readScope: 'account:read',
} satisfies ListTable;

/**
 * Returns how the caller's account is protected.
 * @throws {ServiceError} UNAUTHENTICATED, TOO_MANY_READS
 */
export async function getSecurity({ ctx }: { ctx: ServiceContext }): Promise<Security> {
  const developerId = requireDeveloper(ctx.actor, 'account:read');
  const columns = Object.keys(securityTable.columns);
  const rows = await findOwnRows<SecurityRow>({ ctx, table: securityTable, ids: [developerId], columns });
  const row = rows.get(developerId);
  if (row === undefined) throw accountDeleted();
  const { id: _, ...security } = row;
  return security;
}
