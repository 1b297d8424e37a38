/** The only channel. A notification says that there is work; the work itself is in the tables. */
export const wakeChannel = 'deedwire_wake';

export const reconnectMaxMs = 5_000;
