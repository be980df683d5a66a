import type { Database } from '../../db/database.ts';
import type { PageOf } from '../export-pages.ts';
import { licenseSelect } from './view.ts';

/** Reads a page of an application's licenses without those of a mint in progress, which are hidden, in one transaction. */
export function findShownLicenses({ prisma }: Database, page: PageOf<{ readonly applicationId: string }>) {
  return prisma.$transaction(async (transaction) => {
    const underWay = await transaction.mintUnderWay.findFirst({ select: { fromId: true, toId: true } });
    const hidden = underWay === null ? [] : [{ id: { gte: underWay.fromId, lte: underWay.toId } }];
    return transaction.license.findMany({
      ...page,
      where: { ...page.where, NOT: hidden },
      select: licenseSelect,
    });
  });
}
