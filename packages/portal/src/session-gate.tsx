import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ReturnLink } from './layout.tsx';
import { go } from './location.tsx';
import { type Failure, failureOf, isEnd, request } from './request.ts';
import { gateNow, type Session, setGate, setTimeLeft, useGate } from './session.ts';
import { startStopwatch } from './stopwatch.ts';
import { tellTabs } from './tabs.ts';
import { Notice } from './ui/notice.tsx';
import { loading, Problem } from './ui/problem.tsx';
import { SendButton } from './ui/send-button.tsx';
import { numberOf } from './words.ts';

/** In a Chromium that blocks them, `navigator.cookieEnabled` is true. */
function keepsCookies(): boolean {
  try {
    document.cookie = 'deedwire-probe=1; SameSite=Strict';
    const isKept = document.cookie.includes('deedwire-probe=1');
    document.cookie = 'deedwire-probe=; Max-Age=0';
    return isKept;
  } catch {
    return false;
  }
}

/** Neither the history nor a copied address may contain the token. */
function hideToken(): void {
  history.replaceState(null, '', location.pathname + location.search);
}

const reasons = {
  'link-failed': ['This link no longer works', 'A link works once, until it expires.'],
  'cookie-lost': [
    'The session was lost',
    'The link was used, but the browser did not send the cookie of its session back. The browser, an extension or a proxy removes it: allow cookies for this site, or use another browser, with a new link.',
  ],
  'signed-out': ['You are signed out', 'The session has ended.'],
  ended: ['There is no session', 'It ended, or another link replaced it. This address still works in a new session.'],
  unchecked: [
    'Your session could not be checked',
    'Deedwire gave no answer when the session was due to end, so this page hides what it showed.',
  ],
} as const;

const blocked = (
  <div className="why bad" role="alert">
    <p>This browser keeps no cookies for this site. Allow them, or open the link in another browser.</p>
  </div>
);

/** Shows the pages in a session, and otherwise how to get one. */
export function SessionGate({ children }: { children: ComponentChildren }) {
  const gate = useGate();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [isBlocked, setIsBlocked] = useState(false);

  /** Takes the token out of the URL, unless the browser would lose its session: then it is opened later, or in another browser. */
  const takeToken = (): boolean => {
    const token = /^#link=(.*)$/.exec(location.hash)?.[1];
    if (token === undefined) return false;
    // It asked for the session before.
    window.early = undefined;
    const isKept = keepsCookies();
    if (isKept) hideToken();
    setIsBlocked(!isKept);
    setFailure(null);
    setGate({ kind: 'link', token });
    return true;
  };

  /** Exchanges the token of a link, and then, or without one, looks for the session of the cookie. */
  const open = async (token: string | null) => {
    const isKept = keepsCookies();
    setIsBlocked(!isKept);
    if (token !== null && !isKept) return;
    setFailure(null);
    setBusy(true);
    let asker = gateNow();
    try {
      if (token !== null) {
        hideToken();
        const { id } = await request<Session>('POST', 'session', { token });
        tellTabs({ started: id });
        // Another link can have arrived meanwhile.
        if (gateNow() !== asker) return;
        setGate((asker = { kind: 'link-opened' }));
      }
      const passedMs = startStopwatch();
      const session = await request<Session>('GET', 'session');
      if (gateNow() !== asker) return;
      const isNew = asker.kind === 'link-opened';
      setTimeLeft(session, passedMs);
      setGate({ kind: 'open', session });
      if (isNew && session.subscriptionId) go(`subscriptions/${numberOf(session.subscriptionId)}`, true);
    } catch (error) {
      const refused = gateNow();
      if (refused !== asker) return;
      const { requestId } = failureOf(error).details;
      if (!isEnd(error)) setFailure(failureOf(error));
      else if (refused.kind === 'link') setGate({ kind: 'link-failed', requestId });
      else if (refused.kind === 'link-opened') setGate({ kind: 'cookie-lost', requestId });
      else setGate({ kind: 'ended', returnUrl: 'returnUrl' in refused ? refused.returnUrl : null, requestId });
    } finally {
      setBusy(false);
    }
  };

  useEffect(() => {
    if (!takeToken()) void open(null);
    // A link that is opened in a tab of the portal changes only the fragment.
    addEventListener('hashchange', takeToken);
    return () => removeEventListener('hashchange', takeToken);
  }, []);

  if (gate.kind === 'open') return children;
  const token = gate.kind === 'link' ? gate.token : null;
  /** With the link, which is not used. */
  const reload = () => {
    if (token !== null) history.replaceState(null, '', `#link=${token}`);
    location.reload();
  };
  const problem = failure && <Problem failure={failure} retry={() => void open(token)} reload={reload} />;
  if (gate.kind === 'loading' || gate.kind === 'link-opened')
    return <Notice title="Webhook portal">{problem ?? loading}</Notice>;
  if (gate.kind === 'link')
    return (
      <Notice title="Webhook portal">
        <p>This link opens the portal once. It ends a session that you have here already.</p>
        {isBlocked && blocked}
        {problem ?? (
          <SendButton isSending={busy} onClick={() => void open(token)}>
            Open the portal
          </SendButton>
        )}
      </Notice>
    );
  const [title, text] = reasons[gate.kind];
  if (gate.kind === 'unchecked')
    return (
      <Notice title={title}>
        <p>{text}</p>
        {problem ?? (
          <SendButton isSending={busy} onClick={() => void open(null)}>
            Check again
          </SendButton>
        )}
      </Notice>
    );
  return (
    <Notice title={title}>
      <p>{text}</p>
      {isBlocked && blocked}
      <p>
        To get a new link, open the portal from the application that you came from. If it offers no portal, ask the
        people who run it, or who sent you the link.
      </p>
      {'requestId' in gate && gate.requestId && (
        <p className="soft">
          If new links fail too, tell the operator: request id <code>{gate.requestId}</code>.
        </p>
      )}
      {gate.kind === 'ended' && <ReturnLink url={gate.returnUrl} />}
      {gate.kind === 'ended' && <button onClick={() => location.reload()}>Check again</button>}
    </Notice>
  );
}
