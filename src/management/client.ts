import type { RootFields } from './answer.ts';
import { type OperationArguments, type Present, readDocument, type TypedDocument } from './document.ts';
import { type FollowOptions, type FollowVariables, follow } from './follow.ts';
import { type ManagementClientOptions, parseOptions, type Settings } from './options.ts';
import { type Connection, type Pages, type PageVariables, paginate } from './paginate.ts';
import { type RequestOptions, request } from './request.ts';

/** What a subscription delivers: the value of its one root field. */
export type EntryOf<Data> = Present<Data>[keyof Data];

/**
 * A client of one account. It holds no connection and no state: make one and keep it.
 * Printing it, or writing it as JSON, shows nothing of its options.
 */
export class ManagementClient {
  readonly #settings: Settings;

  constructor(options: ManagementClientOptions) {
    this.#settings = parseOptions(options);
  }

  /**
   * Sends a query or a mutation and answers its data, whose root fields are all there.
   *
   * A query that failed because the network or the service was away, or that came too soon, is repeated within the time
   * limit. **A mutation is never repeated**: when its answer is lost, it may have been done, and license keys may have
   * been minted. After NETWORK, TIMEOUT or ABORTED look what is there before you send it again.
   * @throws {ManagementError} whenever the answer has an error, also where other fields succeeded: see its `data`
   */
  async request<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...[variables, options]: OperationArguments<NoInfer<Variables>, RequestOptions>
  ): Promise<Present<Data>> {
    const data = await request(this.#settings, await readDocument(document), variables, options);
    return typed<Data>(data);
  }

  /**
   * All of a list: iterate over it, or over its `pages()`. One page at a time is fetched, when the loop gets there;
   * leaving the loop fetches no more. Rows that come or go meanwhile neither repeat nor hide others.
   *
   * With `first` (and `after`) it goes from the newest to the oldest, with `last` (and `before`) the other way.
   * @param select where in the data the connection is
   * @throws {ManagementError} in the iteration, ABORTED too: a list that is cut off never looks whole
   */
  paginate<Data, Variables extends PageVariables, Page extends Connection>(
    document: TypedDocument<Data, Variables>,
    variables: NoInfer<Variables>,
    select: (data: Present<Data>) => Page | null | undefined,
    options?: RequestOptions,
  ): Pages<Page> {
    return paginate(async (asked: Variables) => {
      const data = await request(this.#settings, await readDocument(document), asked, options);
      return select(typed<Data>(data));
    }, variables);
  }

  /**
   * Follows a subscription, entry by entry, for as long as the loop runs. A connection that breaks, falls silent or is
   * ended by a service that shuts down is opened again, after a pause that grows, and goes on after the last entry
   * delivered: nothing is lost and nothing comes twice. To go on after your own program's restart, keep the id of the
   * last entry and pass it as `after`.
   *
   * It ends quietly when the signal aborts or the loop is left.
   * @throws {ManagementError} in the iteration: when the service refuses, as when the key was revoked
   *   (UNAUTHENTICATED) or the application deleted (APP_NOT_FOUND); and when the first connection cannot be made
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

/** The types are what codegen made of the schema; that a service of another version answers so is for it to keep. */
const typed = <Data>(data: RootFields) => data as Present<Data>;

/**
 * A client of the management API, with an account's API key.
 * @throws {TypeError} naming the option that is wrong
 */
export function createManagementClient(options: ManagementClientOptions): ManagementClient {
  return new ManagementClient(options);
}
