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

/** The id of a session. */
type News = { readonly started: string } | { readonly ended: string };

/** Tells the other tabs which session the browser has now, or has no longer. They hide what the others showed. */
export function tellTabs(news: News): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows: a channel has one origin
  channel?.postMessage(news);
}

channel?.addEventListener('message', ({ data }: MessageEvent<News>) => {
  const gate = gateNow();
  if (gate.kind !== 'open') return;
  const { id } = gate.session;
  if ('started' in data) {
    if (data.started !== id) leaveSession('ended');
  } else if (data.ended === id) setGate({ kind: 'signed-out' });
});
