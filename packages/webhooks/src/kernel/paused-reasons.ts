/** Why subscriptions are paused. `OPERATOR` is treated as `OWNER`, except that alerts report it. */
export const pausedReasons = ['OWNER', 'OPERATOR', 'GONE', 'FAILING', 'VERSION_RETIRED'] as const;
export type PausedReason = (typeof pausedReasons)[number];
