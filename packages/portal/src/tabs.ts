import { base, gateNow, leaveSession, setGate } from './session.ts';

/** To the other tabs at this interface, which have the same cookie. Null if the browser has none, or refuses it with its storage. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel(`deedwire${base.replace(/\d+\/$/, '')}`);
  } catch {
    return null;
  }
}

const channel = openChannel();

/** Tells the other tabs which session the browser has now. Null: it has none. They hide what another one shows. */
export function tellTabs(sessionId: string | null): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows: a channel has one origin
  channel?.postMessage(sessionId);
}

channel?.addEventListener('message', ({ data }) => {
  const gate = gateNow();
  if (gate.kind !== 'open' || gate.session.id === data) return;
  if (data === null) setGate({ kind: 'signed-out' });
  else leaveSession('ended');
});
