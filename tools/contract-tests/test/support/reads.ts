import { setTimeout as sleep } from 'node:timers/promises';
import { postGraphql, type Credential } from '@deedwire/testing';

/** A load of queries. */
export interface Reads {
  /** Resolves when all started queries have a response. */
  stop(): Promise<{ responses: number; failures: ReadonlySet<string> }>;
}

const pauseMs = 20;

/** Sends a query again and again, `concurrency` of them at a time. No query is repeated because it failed. */
export function startReads(url: string, credential: Credential, query: string, concurrency: number): Reads {
  const failures = new Set<string>();
  let responses = 0;
  let isOver = false;

  async function read(): Promise<void> {
    while (!isOver) {
      try {
        const { status, body } = await postGraphql(url, credential, { query });
        responses += 1;
        for (const { extensions } of body.errors ?? []) failures.add(`${status} ${extensions.code}`);
        if (status !== 200) failures.add(String(status));
      } catch (error) {
        failures.add(`no response: ${String(error instanceof Error ? (error.cause ?? error) : error)}`);
      }
      await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, read));
  return {
    async stop() {
      isOver = true;
      await running;
      return { responses, failures };
    },
  };
}

/** A client that reads the events of a subscription in order and waits for each next one. */
export interface EventReader {
  /** Reads until it has as many events, then returns their sequences, and what failed. */
  stop(count: number): Promise<{ sequences: readonly number[]; failures: ReadonlySet<string> }>;
}

interface EventPage {
  webhookEvents: { edges: { cursor: string; sequence: number }[] };
}

const eventsQuery = `query ($subscriptionId: ID!, $after: String) {
  webhookEvents(subscriptionId: $subscriptionId, first: 100, after: $after, waitSeconds: 20) {
    edges { cursor sequence }
  }
}`;

export function startEventReader(url: string, credential: Credential, subscriptionId: string): EventReader {
  const sequences: number[] = [];
  const failures = new Set<string>();
  let after: string | null = null;
  let until = Number.POSITIVE_INFINITY;

  async function read(): Promise<void> {
    while (sequences.length < until) {
      try {
        const { status, body } = await postGraphql<EventPage>(url, credential, {
          query: eventsQuery,
          variables: { subscriptionId, after },
        });
        for (const { extensions } of body.errors ?? []) failures.add(`${status} ${extensions.code}`);
        const edges = body.data?.webhookEvents.edges ?? [];
        sequences.push(...edges.map(({ sequence }) => sequence));
        after = edges.at(-1)?.cursor ?? after;
      } catch (error) {
        failures.add(`no response: ${String(error instanceof Error ? (error.cause ?? error) : error)}`);
      }
      if (failures.size > 0) await sleep(pauseMs);
    }
  }

  const running = read();
  return {
    async stop(count) {
      until = count;
      await running;
      return { sequences, failures };
    },
  };
}
