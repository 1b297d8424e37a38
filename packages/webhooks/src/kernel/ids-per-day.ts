/** How many ids belong to one day. The history has one partition per day, and id 0 is at the start of a day. */
export const idsPerDay = 86_400_000n << 22n;
