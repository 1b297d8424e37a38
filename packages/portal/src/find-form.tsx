import type { ComponentChildren, TargetedClipboardEvent, TargetedDragEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { wantedOf } from './find.ts';
import {
  Choices,
  Deliveries,
  type DeliveriesQuery,
  Delivery,
  ReplaySubscription,
  Subscriptions,
} from './generated/documents.ts';
import { go, Link, useUrl } from './location.tsx';
import { type Failure, failureOf, send } from './request.ts';
import { base, gidOf, type Session, useSession } from './session.ts';
import { onSubmit } from './ui/form.tsx';
import { Problem } from './ui/problem.tsx';
import { State } from './ui/state.tsx';
import { nameOf, numberOf } from './words.ts';

/** A page to go to, or why there is none. */
type Found = { readonly to: string } | { readonly message: ComponentChildren };

const searchable = 'Paste a delivery, event or record id, a payload, or a link. Or type the name of a subscription.';
const nothing = `Nothing matches. ${searchable}`;
const noEvent = 'There is no delivery of this event: no subscription received it, or it is no longer kept.';
const noNumber = (number: string) => `There is no delivery, event or subscription with the number ${number}.`;
const noReplay = 'There is no resend with this id, or it is no longer kept.';
const maxLength = 1_000_000;

/** Opens what an identifier, a header, a payload, an address or a name names. What is dropped stays in the browser. */
export function Find() {
  const session = useSession();
  const { params } = useUrl();
  const [typed, setTyped] = useState<string | null>(null);
  const [message, setMessage] = useState<ComponentChildren>('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const running = useRef(new AbortController());
  // A search must not lead away from a page that was opened meanwhile.
  useEffect(() => () => running.current.abort(), []);
  const find = async (text: string) => {
    running.current.abort();
    const { signal } = (running.current = new AbortController());
    setFailure(null);
    setMessage('Searching…');
    try {
      const found = await foundOf(text, session, signal);
      if (signal.aborted) return;
      if ('to' in found) go(found.to);
      setMessage('to' in found ? '' : found.message);
    } catch (error) {
      if (signal.aborted) return;
      const problem = failureOf(error);
      const isRefused = problem.details.code === 'BAD_USER_INPUT';
      setMessage(isRefused ? nothing : '');
      setFailure(isRefused ? null : problem);
    }
  };
  /** The input would join lines without a space between them. */
  const fill = (text: string) => {
    const line = text.slice(0, maxLength).replaceAll(/\s+/g, ' ');
    setTyped(line);
    return line;
  };
  const drop = async (event: TargetedDragEvent<HTMLElement>) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    const text = file ? file.slice(0, maxLength).text() : (event.dataTransfer?.getData('text/plain') ?? '');
    await find(fill(await text));
  };
  const paste = (event: TargetedClipboardEvent<HTMLElement>) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!text.trim().includes('\n')) return;
    event.preventDefault();
    fill(text);
  };
  return (
    <form
      className="find"
      role="search"
      onSubmit={onSubmit(({ wanted = '' }) => find(wanted))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => void drop(event)}
    >
      <input
        name="wanted"
        aria-label="Find"
        placeholder="Find an id or a name, or drop a payload"
        autocomplete="off"
        value={typed ?? params.get('event') ?? params.get('record') ?? ''}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onPaste={paste}
      />
      <button>Find</button>
      <p role="status">{message}</p>
      {failure && <Problem failure={failure} />}
    </form>
  );
}

async function foundOf(text: string, session: Session, signal: AbortSignal): Promise<Found> {
  const wanted = wantedOf(text, location.origin + base);
  switch (wanted?.kind) {
    case 'page':
      return { to: wanted.to };
    case 'other-account':
      return { message: 'This page is of another account, or of another server. Open a link to its portal first.' };
    case 'replay': {
      const { webhookReplay } = await send(ReplaySubscription, { id: wanted.id }, signal);
      if (webhookReplay === null) return { message: noReplay };
      return { to: `recover?subscription=${numberOf(webhookReplay.subscriptionId)}` };
    }
    case 'subscription':
      return { to: `subscriptions/${wanted.number}` };
    case 'delivery':
      return { to: `deliveries/${wanted.number}` };
    case 'record': {
      const to = `deliveries?${new URLSearchParams({ record: wanted.id })}`;
      const { isNone } = await firstTwo({ recordId: wanted.id }, signal);
      return isNone ? { message: 'There is no delivery about this record, or it is no longer kept.' } : { to };
    }
    case 'event':
      return (await ofEvent(wanted.id, signal)) ?? { message: noEvent };
    case 'number': {
      const { number } = wanted;
      const { webhookDelivery } = await send(Delivery, { id: gidOf(session, 'WebhookDelivery', number) }, signal);
      if (webhookDelivery !== null) return { to: `deliveries/${number}` };
      const ofNumber = await ofEvent(gidOf(session, 'WebhookEvent', number), signal);
      return ofNumber ?? (await ofName(number, signal)) ?? { message: noNumber(number) };
    }
    case 'name':
      return (await ofName(wanted.name, signal)) ?? { message: nothing };
    case undefined:
      return { message: searchable };
  }
}

async function ofEvent(eventId: string, signal: AbortSignal): Promise<Found | null> {
  const { isNone, only } = await firstTwo({ eventId }, signal);
  if (isNone) return null;
  if (only) return { to: `deliveries/${numberOf(only.id)}` };
  return { to: `deliveries?${new URLSearchParams({ event: eventId })}` };
}

/** How many pages are searched before the list of deliveries continues. They can be short, and even empty. */
const pagesMax = 5;

/** Whether no delivery matches, and the only one that matches. */
async function firstTwo(filter: { eventId: string } | { recordId: string }, signal: AbortSignal) {
  const found: DeliveriesQuery['webhookDeliveries']['nodes'] = [];
  let after: string | null = null;
  for (let page = 0; page < pagesMax && found.length < 2; page += 1) {
    const result: DeliveriesQuery = await send(Deliveries, { first: 2, ...filter, after }, signal);
    const { nodes, pageInfo } = result.webhookDeliveries;
    found.push(...nodes);
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) return { isNone: found.length === 0, only: found.length === 1 ? found[0] : undefined };
  }
  return { isNone: false, only: undefined };
}

/** How many subscriptions are listed of those that match. */
const listedMax = 10;

/** The subscription with a number, a name or a callback URL, those with a part of it, or the deliveries of an event type. */
async function ofName(name: string, signal: AbortSignal): Promise<Found | null> {
  const { webhookSubscriptions, webhookEventTypes } = await send(Choices, {}, signal);
  const texts = webhookSubscriptions.nodes.map((each) => ({
    id: each.id,
    shown: nameOf(each),
    number: numberOf(each.id),
    all: [nameOf(each), each.callbackUrl].map(plain),
  }));
  const same = texts.filter(({ number, all }) => number === name || all.includes(plain(name)));
  const isType = same.length === 0 && webhookEventTypes.some(({ type }) => type === plain(name));
  if (isType) return { to: `deliveries?${new URLSearchParams({ type: plain(name) })}` };
  // A bare number is also part of ports and names, which are not meant.
  const isPart = same.length === 0 && !/^\d+$/.test(name);
  const matching = isPart ? texts.filter(({ all }) => all.some((text) => text.includes(plain(name)))) : same;
  const [first, ...others] = matching;
  if (first === undefined) return null;
  if (others.length === 0) return { to: `subscriptions/${first.number}` };
  const states = new Map(
    (await send(Subscriptions, {}, signal)).webhookSubscriptions.nodes.map(({ id, health }) => [id, health.state]),
  );
  const links = matching.slice(0, listedMax).map(({ id, shown, number }) => (
    <span key={id}>
      <Link to={`subscriptions/${number}`}>{shown}</Link> <State value={states.get(id) ?? ''} />{' '}
    </span>
  ));
  const left = matching.length - links.length;
  return {
    message: (
      <span>
        Which of these subscriptions? {links}
        {left > 0 && `And ${left} more: type more of the name.`}
      </span>
    ),
  };
}

const plain = (text: string): string => text.normalize('NFKC').toLowerCase();
