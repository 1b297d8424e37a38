import { Deliveries, type DeliveriesQuery, type DeliveriesQueryVariables } from './generated/documents.ts';
import { isReturn } from './history.ts';
import { useNow } from './ui/time.tsx';
import { type Query, useQuery } from './use-query.ts';

const pollMs = 15_000;

/**
 * What has changed since a page of deliveries was read. Rows must not move under a pointer: each keeps its place and gets its
 * current status, even if that no longer matches the filters. Newer deliveries are only counted.
 */
export function useChanges(page: Query<DeliveriesQuery>, filters: DeliveriesQueryVariables, hasNewer: boolean) {
  const { nodes = [] } = page.data?.webhookDeliveries ?? {};
  useNow(5_000);
  // The page of an entry of the history that is shown again can be hours old.
  const isDue = (page.ageMs?.() ?? 0) >= pollMs || (isReturn() && page.data !== undefined);
  const [newest, oldest] = [nodes[0], nodes.at(-1)].map((node) => node?.createdAt);
  // `until` excludes its own millisecond. Of all statuses, there can be more deliveries than rows.
  const range = newest && { since: oldest, until: new Date(Date.parse(newest) + 1).toISOString(), status: null };
  const shown = useQuery(Deliveries, isDue && range ? { ...filters, ...range, first: 100 } : null, pollMs);
  const since = newest ?? filters.since;
  const latest = useQuery(Deliveries, isDue && hasNewer ? { ...filters, since, first: 20 } : null, pollMs);
  const found = new Map(shown.data?.webhookDeliveries.nodes.map((node) => [node.id, node]));
  const isComplete = nodes.every(({ id }) => found.has(id));
  return {
    rows: nodes.map((node) => found.get(node.id) ?? node),
    newer: latest.data?.webhookDeliveries.nodes.filter(({ id }) => !nodes.some((node) => node.id === id)) ?? [],
    /** When all rows were read. */
    readAtMs: isComplete ? (shown.readAtMs ?? page.readAtMs) : page.readAtMs,
    failed: [shown, latest].find(({ failure }) => failure !== null),
  };
}
