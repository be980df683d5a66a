/**
 * Typed client for the management API, published as "@latchkey/management". Runs on Node.js 20 or newer, Deno and browsers.
 *
 * ```ts
 * const latchkey = createManagementClient({ baseUrl, apiKey });
 * const { createLicenses } = await latchkey.request(CreateLicensesDocument, { input });
 * for await (const license of latchkey.paginate(LicensesDocument, { applicationId }, (data) => data.application.licenses)) {
 *   show(license.keyPrefix, license.status);
 * }
 * ```
 * `latchkey.follow` iterates over a subscription. Failures are thrown as a {@link ManagementError} with a `code`.
 */
export { createManagementClient, type EntryOf, type ManagementClient } from './client.ts';
export type { Present, TypedDocument } from './document.ts';
export {
  type AnsweredError,
  type ClientCode,
  type InputIssue,
  isManagementError,
  type KnownCode,
  ManagementError,
  type ManagementErrorCode,
} from './errors.ts';
export type { FollowOptions, FollowVariables, Reconnect } from './follow.ts';
export * from './generated/documents.ts';
export type { ManagementClientOptions } from './options.ts';
export type { Connection, NodeOf, PageInfo, Pages, PageVariables } from './paginate.ts';
export type { RequestOptions } from './request.ts';
