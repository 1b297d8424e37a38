import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { keepFocus } from './focus.ts';
import { Link, useUrl } from './location.tsx';
import { Failure, failureOf, isEnd, request } from './request.ts';
import { SessionEnd } from './session-end.tsx';
import { type Ability, gateNow, setGate, timeLeft, useSession } from './session.ts';
import { tellTabs } from './tabs.ts';
import { formatTime } from './time.ts';
import { Problem } from './ui/problem.tsx';
import { Stale } from './ui/stale.tsx';
import { Visible } from './ui/text.tsx';
import { useClock } from './ui/time.tsx';
import { hostOf, urlOf, wordOf } from './words.ts';

const pages = [
  ['', 'Subscriptions', /^(?:subscriptions\/|$)/],
  ['deliveries', 'Deliveries', /^deliveries/],
  ['recover', 'Resend', /^recover/],
  ['verify', 'Verify', /^verify/],
  ['keys', 'Keys', /^keys/],
  ['contacts', 'Contacts', /^contacts/],
] as const;

/** What the pages need that not every session may see. */
const neededFor: Readonly<Record<string, Ability>> = { keys: 'MANAGE_KEYS', contacts: 'CONFIGURE' };

/** The frame of every page: whose account it shows, what the session may do, and until when. */
export function Layout({ children }: { children: ComponentChildren }) {
  const session = useSession();
  const { path } = useUrl();
  const now = useClock(10_000);
  const { expiresMs, idleEndsMs } = timeLeft();
  const leftMs = Math.min(expiresMs, idleEndsMs);
  const [failure, setFailure] = useState<Failure | null>(null);
  const signOut = async () => {
    setFailure(null);
    const asker = gateNow();
    // A link can have been opened in this tab meanwhile.
    const leave = () => gateNow() === asker && setGate({ kind: 'signed-out' });
    try {
      await request('DELETE', 'session');
      tellTabs({ ended: session.id });
      leave();
    } catch (error) {
      const { message, details } = failureOf(error);
      if (isEnd(error)) leave();
      else setFailure(new Failure(`You may still be signed in. ${message}`, details));
    }
  };
  useEffect(keepFocus, []);
  const mayManageKeys = session.abilities.includes('MANAGE_KEYS');
  const links = pages
    .filter(([to]) => session.abilities.includes(neededFor[to] ?? 'READ'))
    .map(([to, name, pattern]) => (
      <Link key={to} to={to} aria-current={pattern.test(path) ? 'page' : undefined}>
        {name}
      </Link>
    ));
  const ofWebhooks = session.abilities.filter((ability) => ability !== 'MANAGE_KEYS');
  const abilities = ofWebhooks.map((ability) => wordOf(ability).toLowerCase());
  const access = [
    ...(abilities.length === 4 ? ['full access'] : abilities),
    ...(mayManageKeys ? ['manage keys'] : []),
  ].join(', ');
  return (
    <>
      <header>
        <a className="skip button" href="#content" onClick={skip}>
          Skip to content
        </a>
        <div>
          <Visible as="b" text={session.account.name} />
          <small>{session.interface} interface</small>
        </div>
        <nav aria-label="Portal">{links}</nav>
        <div className="session">
          <ReturnLink url={session.returnUrl} />{' '}
          <button className="link" onClick={() => void signOut()}>
            Sign out
          </button>
          <small>
            <span>Signed in as </span>
            <Visible text={session.actor} />
            <span>{` (${access}) · `}</span>
            <span
              className={leftMs < 300_000 ? 'warn' : ''}
            >{`ends ${formatTime(now + leftMs, now).slice(0, -3)}`}</span>
          </small>
        </div>
      </header>
      {failure && <Problem failure={failure} />}
      <SessionEnd />
      <main id="content" tabIndex={-1}>
        {children}
        <Stale />
      </main>
    </>
  );
}

/** To the list of a page, past its filters. The fragment stays as it is: it is for tokens of links. */
function skip(event: TargetedMouseEvent<HTMLElement>) {
  event.preventDefault();
  const [main, list] = ['main', 'main section[tabindex]'].map((each) => document.querySelector<HTMLElement>(each));
  (list ?? main)?.focus();
}

/** The way back to the application, from the session. Only `https:`: no other source can name a target. */
export function ReturnLink({ url }: { url: string | null }) {
  if (url === null || urlOf(url)?.protocol !== 'https:') return null;
  return <a href={url} rel="noreferrer">{`Back to ${hostOf(url)}`}</a>;
}
