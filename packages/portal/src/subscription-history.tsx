import type { Hour } from './bars.tsx';
import * as documents from './generated/documents.ts';
import { Link } from './location.tsx';
import { minuteOf, timeOf } from './time.ts';
import { Documentation } from './ui/documentation.tsx';
import { State } from './ui/state.tsx';
import { Table } from './ui/table.tsx';
import { useQuery } from './use-query.ts';
import { atLeast, numberOf, plural, resultOf, resultTone, sentences } from './words.ts';

type History = NonNullable<documents.SubscriptionHistoryQuery['webhookSubscription']>;

/** How many deliveries nobody has received: those that are still failed, and what was counted, which a later success does not change. */
export function Failed({ history: { failed, statistics }, number }: { history: History; number: string }) {
  const counted = statistics.reduce((sum, { failedCount }) => sum + failedCount, 0);
  return (
    <>
      {failed.nodes.length === 0 ? (
        'None now'
      ) : (
        <>
          {`${atLeast(failed)} now. `}
          <Link to={`deliveries?subscription=${number}&status=FAILED`}>See them</Link>
          {' · '}
          <Link to={`recover?subscription=${number}&what=failed`}>Resend</Link>
        </>
      )}
      <small>
        {counted === 0 ? 'None' : counted.toLocaleString('en')} counted in the last 7 days (once a minute, without those
        that could not be rendered)
      </small>
    </>
  );
}

interface LatestProps {
  readonly history: History;
  /** The delivery of the last attempt that failed. It can be an old one. */
  readonly failedId: string | undefined;
  /** When a delivery was last delivered. */
  readonly at: string | undefined;
}

/** The API lists attempts by delivery, so the newest ones of old deliveries can be missing. */
export function LatestAttempts({ history, failedId, at }: LatestProps) {
  const last = useQuery(documents.LastAttempts, failedId === undefined ? null : { id: failedId }, 30_000).data;
  const deliveries = [last?.webhookDelivery, ...history.newest.nodes].filter(
    (each) => each !== null && each !== undefined,
  );
  const attempts = new Map(
    deliveries.flatMap(({ id, event, attempts: all }) =>
      all.map((attempt) => [`${numberOf(id)}?attempt=${attempt.number}`, { ...attempt, type: event.type }] as const),
    ),
  );
  const newest = [...attempts].toSorted(([, a], [, b]) => b.startedAt.localeCompare(a.startedAt)).slice(0, 20);
  if (newest.length === 0)
    return <p className="soft">{history.newest.nodes.length === 0 ? 'No deliveries yet.' : 'No attempts yet.'}</p>;
  const counts = new Map<string, number>();
  for (const [, attempt] of newest) counts.set(resultOf(attempt), (counts.get(resultOf(attempt)) ?? 0) + 1);
  const results = [...counts].map(([result, count]) => `${result} × ${count}`).join(', ');
  const rows = newest
    .slice(0, 5)
    .map(([path, attempt]) => [
      <Link to={`deliveries/${path}`}>{timeOf(attempt.startedAt)}</Link>,
      <State value={resultOf(attempt)} tone={resultTone(attempt)} />,
      <bdi translate="no">{attempt.type}</bdi>,
      `${attempt.durationMs.toLocaleString('en')} ms`,
    ]);
  return (
    <>
      <p>
        {sentences(
          `Of the last ${plural(newest.length, 'attempt')}: ${results}.`,
          at !== undefined && `Last success: ${minuteOf(at)}.`,
        )}
      </p>
      <Table head={['Started', 'Result', 'Event', 'Took']} rows={rows} />
      <p className="soft">
        Attempts of the 20 newest deliveries, and of the last one that failed.{' '}
        <Documentation page="webhook-did-not-arrive.md">Help: a webhook did not arrive</Documentation>
      </p>
    </>
  );
}

/** The hours in which something was counted, newest first. */
export function HoursTable({ hours }: { hours: readonly Hour[] }) {
  const rows = hours
    .filter(({ deliveredCount, failedAttemptCount }) => deliveredCount + failedAttemptCount > 0)
    .map((each) => [
      minuteOf(each.hour),
      each.deliveredCount.toLocaleString('en'),
      each.failedAttemptCount.toLocaleString('en'),
    ])
    .toReversed();
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>Hour by hour</summary>
      <Table head={['Hour from', 'Delivered', 'Failed attempts']} rows={rows} />
    </details>
  );
}
