import type { Hour } from './bars.tsx';
import * as documents from './generated/documents.ts';
import { Link } from './location.tsx';
import { minuteOf, timeOf } from './time.ts';
import { Documentation } from './ui/documentation.tsx';
import { State } from './ui/state.tsx';
import { Table } from './ui/table.tsx';
import { useQuery } from './use-query.ts';
import { atLeast, countedUntil, numberOf, plural, resultOf, resultTone, sentences } from './words.ts';

type History = NonNullable<documents.SubscriptionHistoryQuery['webhookSubscription']>;

interface FailedProps {
  readonly history: History;
  readonly number: string;
  readonly readAtMs: number;
}

/** The deliveries that are still failed, and the count of failures, which a later success does not change. */
export function Failed({ history: { failed, statistics }, number, readAtMs }: FailedProps) {
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
        {`${counted === 0 ? 'None' : counted.toLocaleString('en')} in the last 7 days, ${countedUntil(readAtMs)}, once a minute, without those that could not be rendered`}
      </small>
    </>
  );
}

interface LatestProps {
  readonly id: string;
  readonly history: History;
  /** The delivery of the last attempt that failed. It can be an old one. */
  readonly failedId: string | undefined;
  /** When a delivery was last delivered. */
  readonly at: string | undefined;
}

/** The API lists attempts by delivery, so some are missing: those of deliveries that are neither new nor near the last failure. */
export function LatestAttempts({ id: subscriptionId, history, failedId, at }: LatestProps) {
  const last = useQuery(documents.LastAttempts, failedId === undefined ? null : { id: failedId }, 30_000).data;
  const lastAt = last?.webhookDelivery?.createdAt;
  const until = lastAt === undefined ? null : new Date(Date.parse(lastAt) + 1).toISOString();
  const before = useQuery(documents.AttemptsBefore, until === null ? null : { subscriptionId, until }, 30_000).data;
  const { newest: created, failed, delivered } = history;
  // A delivery can be in several of them, and the first one has more of its attempts.
  const deliveries = [
    last?.webhookDelivery,
    ...[before?.webhookDeliveries, created, failed, delivered].flatMap((each) => each?.nodes ?? []),
  ].filter((each) => each !== null && each !== undefined);
  const attempts = new Map(
    deliveries.flatMap(({ id, event, attempts: all }) =>
      all.map((attempt) => [`${numberOf(id)}?attempt=${attempt.number}`, { ...attempt, type: event.type }] as const),
    ),
  );
  const shown = [...attempts].toSorted(([, a], [, b]) => b.startedAt.localeCompare(a.startedAt)).slice(0, 5);
  if (shown.length === 0)
    return <p className="soft">{created.nodes.length === 0 ? 'No deliveries yet.' : 'No attempts yet.'}</p>;
  const counts = new Map<string, number>();
  for (const [, attempt] of shown) counts.set(resultOf(attempt), (counts.get(resultOf(attempt)) ?? 0) + 1);
  const results = [...counts].map(([result, count]) => `${result} × ${count}`).join(', ');
  const rows = shown.map(([path, attempt]) => [
    <Link to={`deliveries/${path}`}>{timeOf(attempt.startedAt)}</Link>,
    <State value={resultOf(attempt)} tone={resultTone(attempt)} />,
    <bdi translate={false}>{attempt.type}</bdi>,
    `${attempt.durationMs.toLocaleString('en')} ms`,
  ]);
  return (
    <>
      <p>
        {sentences(
          `Of the ${plural(shown.length, 'attempt')} shown here: ${results}.`,
          at !== undefined && `Last success: ${minuteOf(at)}.`,
        )}
      </p>
      <Table head={['Started', 'Result', 'Event', 'Took']} rows={rows} />
      <p className="soft">
        From the newest deliveries, and those near the last failure.{' '}
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
