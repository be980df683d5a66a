import type { RootFields } from './answer.ts';
import { type OperationArguments, type Present, readDocument, type TypedDocument } from './document.ts';
import { type FollowOptions, type FollowVariables, follow } from './follow.ts';
import { type ManagementClientOptions, parseOptions, type Settings } from './options.ts';
import { type Connection, type Pages, type PageVariables, paginate } from './paginate.ts';
import { type RequestOptions, request } from './request.ts';

/** The value a subscription delivers: that of its only root field. */
export type EntryOf<Data> = Present<Data>[keyof Data];

/**
 * A client for one account. It is stateless: create it once and keep it. Printing it or serializing it as JSON does not
 * reveal its options.
 */
export class ManagementClient {
  readonly #settings: Settings;

  constructor(options: ManagementClientOptions) {
    this.#settings = parseOptions(options);
  }

  /**
   * Sends a query or mutation and returns its data. No root field of the data is null.
   *
   * If the network or the service is unavailable, or a rate limit is reached, the call is retried within the timeout. A
   * mutation carries an Idempotency-Key, so it is carried out once, and license keys that it has created are not lost
   * with a response. If the call fails although it may have been carried out, its error has the `idempotencyKey`: pass it
   * to call again, or check the current state.
   * @throws {ManagementError} if the response has an error, even if other fields succeeded; see its `data`
   */
  async request<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...[variables, options]: OperationArguments<NoInfer<Variables>, RequestOptions>
  ): Promise<Present<Data>> {
    const data = await request(this.#settings, await readDocument(document), variables, options);
    return typed<Data>(data);
  }

  /**
   * Iterates over a whole list, or over its `pages()`. Pages are fetched one at a time, as the loop reaches them. Rows
   * created or deleted during the iteration do not cause duplicates or gaps.
   *
   * With `first` (and `after`) the order is newest to oldest; with `last` (and `before`), oldest to newest.
   * @param select returns the connection from the data
   * @throws {ManagementError} during iteration, including ABORTED: a truncated list never looks complete
   */
  paginate<Data, Variables extends PageVariables, Page extends Connection>(
    document: TypedDocument<Data, Variables>,
    variables: NoInfer<Variables>,
    select: (data: Present<Data>) => Page | null | undefined,
    options?: RequestOptions,
  ): Pages<Page> {
    return paginate(async (pageVariables: Variables) => {
      const data = await request(this.#settings, await readDocument(document), pageVariables, options);
      return select(typed<Data>(data));
    }, variables);
  }

  /**
   * Iterates over the entries of a subscription. If the connection is lost, times out, or is closed by a service that
   * shuts down, it reconnects with increasing pauses and resumes after the last delivered entry, without gaps or
   * duplicates. To resume after your own program restarts, store the id of the last entry and pass it as `after`.
   *
   * The iteration ends without an error when the signal aborts.
   * @throws {ManagementError} during iteration: if the service refuses, for example because the key was revoked
   *   (UNAUTHENTICATED) or the application deleted (APP_NOT_FOUND), or if the first connection fails
   */
  async *follow<Data, Variables extends FollowVariables>(
    document: TypedDocument<Data, Variables>,
    variables: NoInfer<Variables>,
    options?: FollowOptions,
  ): AsyncGenerator<EntryOf<Data>, void, undefined> {
    const entries = follow(this.#settings, await readDocument(document), variables, options);
    for await (const entry of entries) yield entry as EntryOf<Data>;
  }
}

/** The types come from codegen; the data is not validated against them. */
const typed = <Data>(data: RootFields) => data as Present<Data>;

/**
 * Creates a client for the management API.
 * @throws {TypeError} if an option is invalid; the message names it
 */
export function createManagementClient(options: ManagementClientOptions): ManagementClient {
  return new ManagementClient(options);
}
