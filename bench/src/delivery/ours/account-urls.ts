import { firstReceiver, type Workload } from '../workloads.ts';

/** The callback URLs of each account of a workload. Each subscription has a separate receiver. */
export function accountUrls(workload: Workload, origins: readonly string[]): string[][] {
  const { accounts, subscriptionsPerAccount } = workload;
  const first = firstReceiver(workload);
  return Array.from({ length: accounts }, (_, account) =>
    Array.from(
      { length: subscriptionsPerAccount },
      (__, index) => `${origins[first + account * subscriptionsPerAccount + index] ?? ''}/hooks`,
    ),
  );
}
