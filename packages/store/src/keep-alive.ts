// Detects after 20 s that a peer has vanished. The defaults of operating systems take hours.
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;
