import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import type { CacheChange } from '../coherence/cache-change.ts';
import type { DatabaseWatch } from '../coherence/database-watch.ts';
import { createFollowers, type Followers } from './followers.ts';
import { createSecurityLogNews, type SecurityLogNews } from './news.ts';
import { createWatermark, type Watermark } from './watermark.ts';

/** What followers of the security log live on. */
export interface SecurityLogFeed {
  readonly followers: Followers;
  readonly watermark: Watermark;
  readonly news: Pick<SecurityLogNews, 'tell' | 'doubt'>;
  /** Whether other instances may write to the same log. */
  readonly shared: boolean;
  /** How often a follower looks without news. */
  readonly pollMilliseconds: number;
  /** Ends all who follow, and every later one at once. */
  close(): void;
}

export interface SecurityLogFeedOptions {
  readonly store: EphemeralStore;
  /** Tells what other instances have changed, where they may have lost the message or have no Redis. */
  readonly watch: Pick<DatabaseWatch, 'listen'>;
  /** Whether other instances may write to the same log. */
  readonly shared: boolean;
  readonly log: Pick<Logger, 'debug'>;
  /** Of the writer. */
  readonly oldestWaiting: () => string | null;
  readonly pollMilliseconds?: number;
}

export function createSecurityLogFeed(options: SecurityLogFeedOptions): SecurityLogFeed {
  const { store, watch, shared, log, oldestWaiting, pollMilliseconds = 5_000 } = options;
  const followers = createFollowers();
  const news: SecurityLogNews = createSecurityLogNews({
    store,
    log,
    listener: { applications: followers.wakeApplications, developers: followers.doubtDevelopers },
    holds: () => watermark.holds(),
  });
  const watermark = createWatermark({
    shared,
    oldestWaiting,
    heldElsewhere: () => news.heldElsewhere(),
  });
  watch.listen((changes) => {
    if (changes === 'all') followers.wakeApplications('all');
    else for (const change of changes) wake(followers, change);
  });
  return {
    followers,
    watermark,
    news,
    shared,
    pollMilliseconds,
    close: () => {
      followers.close();
      news.close();
    },
  };
}

function wake(followers: Followers, { cache, keys }: CacheChange): void {
  switch (cache) {
    case 'application':
    case 'log':
      followers.wakeApplications(keys === 'all' ? 'all' : new Set(keys));
      break;
    case 'credentials':
      if (keys === 'all') followers.wakeApplications('all');
      else followers.doubtDevelopers(new Set(keys));
      break;
    // A logout ends streams at once: see auth/ended-sessions.ts. No stream depends on the rest.
    case 'logout':
    case 'license':
    case 'license-of':
    case 'license-minted':
    case 'ban':
      break;
  }
}
