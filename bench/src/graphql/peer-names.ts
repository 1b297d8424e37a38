/** The servers that we compare with. This file imports none of them. */
export const peerNames = ['mercurius-jit', 'mercurius-guarded', 'mercurius', 'apollo'] as const;
export type PeerName = (typeof peerNames)[number];

/** A value for each of them. */
export function byPeer<Value>(valueOf: (peer: PeerName) => Value): Record<PeerName, Value> {
  return {
    'mercurius-jit': valueOf('mercurius-jit'),
    'mercurius-guarded': valueOf('mercurius-guarded'),
    mercurius: valueOf('mercurius'),
    apollo: valueOf('apollo'),
  };
}
