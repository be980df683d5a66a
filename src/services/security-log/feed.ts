import type { PendingEntry } from '../changes/carry.ts';
import type { ChangeFeed } from '../changes/changes.ts';
import { createFollowers, type Followers } from './followers.ts';
import { createLateEntries } from './late-entries.ts';
import { createWatermark, type Watermark } from './watermark.ts';

/** What streams of the security log need. */
export interface SecurityLogFeed {
  readonly followers: Followers;
  readonly watermark: Watermark;
  /** True if other instances may write to the same log. */
  readonly shared: boolean;
  /** How often a follower checks for entries if no change wakes it. */
  readonly pollMilliseconds: number;
  /** Ends all streams, and every later one at once. */
  close(): void;
}

export interface SecurityLogFeedOptions {
  readonly changes: Pick<ChangeFeed, 'lateEntries'>;
  /** True if other instances may write to the same log. */
  readonly shared: boolean;
  /** The writer's oldest unstored entries. */
  readonly oldestWaiting: () => readonly PendingEntry[];
  readonly pollMilliseconds?: number;
}

export function createSecurityLogFeed(options: SecurityLogFeedOptions): SecurityLogFeed {
  const { changes, shared, oldestWaiting, pollMilliseconds = 5_000 } = options;
  const followers = createFollowers();
  const lateEntries = createLateEntries({
    changes,
    pending: () => watermark.pending(),
    onReleased: () => followers.wake('all'),
  });
  const watermark = createWatermark({
    shared,
    oldestWaiting,
    pendingElsewhere: lateEntries.pendingElsewhere,
  });
  return {
    followers,
    watermark,
    shared,
    pollMilliseconds,
    close: () => {
      followers.close();
      lateEntries.close();
    },
  };
}
