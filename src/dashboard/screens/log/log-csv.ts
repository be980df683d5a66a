import type { LogEntryFragment } from '../../generated/graphql.ts';
import { actorText } from '../../log-entries/entry-actor.ts';
import { csvLine, plainCell } from '../../ui/csv.ts';

export const logCsvHeader = csvLine([
  'id',
  'time',
  'event',
  'verdict',
  'licenseId',
  'license',
  'userId',
  'user',
  'device',
  'address',
  'country',
  'actor',
  'metadata',
]);

export const logCsvLine = (entry: LogEntryFragment): string =>
  csvLine([
    entry.id,
    entry.createdAt,
    entry.event,
    entry.code,
    entry.licenseId,
    plainCell(entry.license?.keyPrefix ?? ''),
    entry.userId,
    plainCell(entry.user?.username ?? ''),
    plainCell(entry.hwid ?? ''),
    entry.ip,
    entry.country,
    plainCell(actorText(entry) ?? ''),
    JSON.stringify(entry.metadata),
  ]);
