import { type ReactNode, useEffect, useState } from 'react';
import { ReturnLink } from './layout.tsx';
import { go } from './location.tsx';
import { type Failure, failureOf, isEnd, request } from './request.ts';
import { type Session, setGate, useGate } from './session.ts';
import { Notice } from './ui/notice.tsx';
import { loading, Problem } from './ui/problem.tsx';
import { numberOf } from './words.ts';

/** Takes the token out of the URL, so that neither the history nor a copied address contains it. */
function takeToken(): boolean {
  const token = /^#link=(.*)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, '', location.pathname + location.search);
  setGate({ kind: 'link', token });
  return true;
}

const reasons = {
  'link-failed': ['This link no longer works', 'A link works once, for a few minutes.'],
  'signed-out': ['You are signed out', 'The session has ended.'],
  ended: ['There is no session', 'It ended, or another link replaced it. This address still works in a new session.'],
} as const;

/** Shows the pages in a session, and otherwise how to get one. */
export function SessionGate({ children }: { children: ReactNode }) {
  const gate = useGate();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);

  /** Exchanges the token of a link, or looks for the session of the cookie. */
  const open = async (token: string | null) => {
    setFailure(null);
    setBusy(true);
    try {
      const session: Session =
        token === null ? await request('GET', 'session') : await request('POST', 'session', { token });
      setGate({ kind: 'open', session });
      if (token !== null && session.subscriptionId) go(`subscriptions/${numberOf(session.subscriptionId)}`, true);
    } catch (error) {
      const failed = failureOf(error);
      const { requestId } = failed.details;
      if (!isEnd(error)) setFailure(failed);
      else setGate(token === null ? { kind: 'ended', returnUrl: null, requestId } : { kind: 'link-failed', requestId });
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
  if (gate.kind === 'loading') return <Notice title="Webhook portal">{problem ?? loading}</Notice>;
  if (gate.kind === 'link')
    return (
      <Notice title="Webhook portal">
        <p>This link opens the portal once. It ends a session that you have here already.</p>
        {problem ?? (
          <button className="first" disabled={busy} onClick={() => void open(token)}>
            Open the portal
          </button>
        )}
      </Notice>
    );
  const [title, text] = reasons[gate.kind];
  return (
    <Notice title={title}>
      <p>{text}</p>
      <p>
        To get a new link, go back to the application that you came from. Its developers create one with{' '}
        <code>createPortalLink</code>, and an operator of Deedwire with <code>deedwire-operator portal link</code>.
      </p>
      {'requestId' in gate && gate.requestId && (
        <p className="soft">
          If new links fail too, tell the operator: request id <code>{gate.requestId}</code>.
        </p>
      )}
      {gate.kind === 'ended' && <ReturnLink url={gate.returnUrl} />}
      {gate.kind === 'ended' && <button onClick={() => location.reload()}>Look for a session again</button>}
    </Notice>
  );
}
