/** The only channel. A notification means that there is work; the tables contain the work itself. */
export const wakeChannel = 'deedwire_wake';

export const reconnectMaxMs = 5_000;
