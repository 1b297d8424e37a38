/** Our row in the tables. */
export const ours = 'deedwire';

/** How the deliveries of a round are spread over accounts and subscriptions. */
export interface Workload {
  name: 'a' | 'b' | 'c';
  title: string;
  accounts: number;
  subscriptionsPerAccount: number;
}

export const workloads: readonly Workload[] = [
  { name: 'a', title: '64 accounts with one subscription each', accounts: 64, subscriptionsPerAccount: 1 },
  { name: 'b', title: 'One account with 20 subscriptions', accounts: 1, subscriptionsPerAccount: 20 },
  { name: 'c', title: '1,000 accounts with 0.1 % of the deliveries each', accounts: 1000, subscriptionsPerAccount: 1 },
];

/** The number of subscriptions, each of which has its own receiver. */
export function subscriptionCount({ accounts, subscriptionsPerAccount }: Workload): number {
  return accounts * subscriptionsPerAccount;
}

/** The number of events that cause `deliveries`, rounded up. */
export function eventCount({ subscriptionsPerAccount }: Workload, deliveries: number): number {
  return Math.ceil(deliveries / subscriptionsPerAccount);
}

/** The workloads use different receivers, so that none inherits the connections of another. */
export function firstReceiver({ name }: Workload): number {
  const earlier = workloads.slice(
    0,
    workloads.findIndex((workload) => workload.name === name),
  );
  return earlier.reduce((sum, workload) => sum + subscriptionCount(workload), 0);
}

export const receiverCount = workloads.reduce((sum, workload) => sum + subscriptionCount(workload), 0);

/** The values in lists of `size`. */
export function inGroups<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size),
  );
}
