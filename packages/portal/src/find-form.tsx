import { type DragEvent, useState } from 'react';
import { wantedOf, type Wanted } from './find.ts';
import { Deliveries, type DeliveriesQuery } from './generated/documents.ts';
import { go } from './location.tsx';
import { Failure, send } from './request.ts';
import { onSubmit } from './ui/form.tsx';
import { numberOf } from './words.ts';

type Found = DeliveriesQuery['webhookDeliveries']['nodes'];

/** Opens the delivery that an identifier, a header or a payload names. What is dropped stays in the browser. */
export function Find() {
  const [message, setMessage] = useState('');
  const find = async (text: string) => {
    const wanted = wantedOf(text);
    if (wanted === null) return setMessage('Type the id of a delivery, an event or a record, or drop a payload.');
    if (wanted.kind === 'delivery') return go(`deliveries/${wanted.number}`);
    if (wanted.kind === 'record') return go(`deliveries?record=${encodeURIComponent(wanted.id)}`);
    setMessage('Searching…');
    try {
      const [first, ...others] = await findEvent(wanted);
      if (first === undefined) return setMessage('No delivery of this event was found within an hour of it.');
      if (others.length === 0) return go(`deliveries/${numberOf(first.id)}`);
      const times = [first, ...others].map(({ createdAt }) => Date.parse(createdAt));
      const since = new Date(Math.min(...times)).toISOString();
      const until = new Date(Math.max(...times) + 1).toISOString();
      go(`deliveries?${new URLSearchParams({ type: first.event.type, since, until })}`);
      setMessage('Several subscriptions receive this event.');
    } catch (error) {
      setMessage(error instanceof Failure ? error.message : 'The search failed.');
    }
  };
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    await find(file ? await file.slice(0, 1_000_000).text() : event.dataTransfer.getData('text/plain'));
  };
  return (
    <form
      className="find"
      role="search"
      onSubmit={onSubmit(({ wanted = '' }) => find(wanted))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => void drop(event)}
    >
      <input name="wanted" aria-label="Find" placeholder="Find an id, or drop a payload" autoComplete="off" />
      <button>Find</button>
      <p role="status">{message}</p>
    </form>
  );
}

/** The deliveries of an event, which are created shortly after it. Reads at most 2,000. */
async function findEvent({ id, type, atMs }: Wanted & { kind: 'event' }): Promise<Found> {
  const found: Found = [];
  const times = { since: new Date(atMs - 60_000).toISOString(), until: new Date(atMs + 3_600_000).toISOString() };
  let after: string | null = null;
  for (let page = 0; page < 20; page += 1) {
    const { webhookDeliveries }: DeliveriesQuery = await send(Deliveries, {
      first: 100,
      eventType: type,
      ...times,
      after,
    });
    found.push(...webhookDeliveries.nodes.filter(({ event }) => event.eventId === id));
    if (!webhookDeliveries.pageInfo.hasNextPage) break;
    after = webhookDeliveries.pageInfo.endCursor;
  }
  return found;
}
