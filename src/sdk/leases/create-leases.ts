import { createHttp } from '../http.ts';
import type { Settings } from '../options.ts';
import type { ServiceClock } from '../v2/service-clock.ts';
import { createLeaseClock } from './lease-clock.ts';
import { createLeaseKeeper, type LeaseKeeper } from './lease-keeper.ts';
import { createLeaseMemory } from './lease-memory.ts';
import { createOfflineLeases, type OfflineLeases } from './leases.ts';
import { createRevocationList } from './revocation-list.ts';
import { createRevocations, type Revocations } from './revocations.ts';

/** What a program does with leases besides `validate`. */
export interface Leases extends OfflineLeases, Revocations {}

export interface LeaseParts {
  readonly leases: Leases;
  readonly keeper: LeaseKeeper;
  /** Notes a time that the service has just signed, in Unix seconds. */
  readonly learnTime: (time: number) => void;
}

export function createLeases(settings: Settings, serviceClock: ServiceClock): LeaseParts {
  const clock = createLeaseClock(serviceClock, Math.floor(settings.builtAt / 1000));
  const memory = createLeaseMemory(settings);
  const revocations = createRevocationList(settings);
  const keeper = createLeaseKeeper({ settings, clock, memory, revocations });
  const http = createHttp(settings.baseUrl, settings.fetch);
  return {
    leases: {
      ...createOfflineLeases({ settings, keeper, memory }),
      ...createRevocations({ settings, http, memory, revocations, clock }),
    },
    keeper,
    learnTime: clock.learn,
  };
}
