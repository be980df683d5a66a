import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import { createFollowers, type Followers } from './followers.ts';
import { createHorizon, type Horizon } from './horizon.ts';
import { createSecurityLogNews, type SecurityLogNews } from './news.ts';

/** What followers of the security log live on. */
export interface SecurityLogFeed {
  readonly followers: Followers;
  readonly horizon: Horizon;
  readonly news: Pick<SecurityLogNews, 'tell' | 'doubt'>;
  /** Whether other instances write to the same log. */
  readonly shared: boolean;
  /** How often a follower looks without news. */
  readonly pollMilliseconds: number;
  /** Ends all who follow, and every later one at once. */
  close(): void;
}

export interface SecurityLogFeedOptions {
  readonly store: EphemeralStore;
  readonly log: Pick<Logger, 'debug'>;
  /** Of the writer. */
  readonly oldestWaiting: () => string | null;
  readonly pollMilliseconds?: number;
}

export function createSecurityLogFeed(options: SecurityLogFeedOptions): SecurityLogFeed {
  const { store, log, oldestWaiting, pollMilliseconds = 5_000 } = options;
  const followers = createFollowers();
  const news: SecurityLogNews = createSecurityLogNews({
    store,
    log,
    listener: { applications: followers.wakeApplications, developers: followers.doubtDevelopers },
    holds: () => horizon.holds(),
  });
  const horizon = createHorizon({
    shared: store.shared,
    oldestWaiting,
    heldElsewhere: () => news.heldElsewhere(),
  });
  return {
    followers,
    horizon,
    news,
    shared: store.shared,
    pollMilliseconds,
    close: () => {
      followers.close();
      news.close();
    },
  };
}
