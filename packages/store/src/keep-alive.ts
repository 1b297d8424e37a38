// The connection to a peer that has vanished is noticed after 20 s. The defaults of operating systems take hours.
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
