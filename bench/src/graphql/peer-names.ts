/** The servers that we compare with. This file imports none of them. */
export const peerNames = ['mercurius-jit', 'mercurius-guarded', 'mercurius', 'apollo'] as const;
export type PeerName = (typeof peerNames)[number];

/** A number for each of them. */
export function byPeer(valueOf: (peer: PeerName) => number): Record<string, number> {
  return Object.fromEntries(peerNames.map((peer) => [peer, valueOf(peer)]));
}
