/** The servers that we compare with. This file imports none of them. */
export const peerNames = ['mercurius-jit', 'mercurius-guarded', 'mercurius', 'apollo'] as const;
export type PeerName = (typeof peerNames)[number];
