import type { Client } from '@deedwire/testing';
import { parse } from 'graphql';

interface Result {
  replayWebhookEvents: { userErrors: { code: string }[] };
}

const mutation = `mutation ($input: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $input) { userErrors { code } } }`;

/** Replays the failed deliveries of a subscription as fast as the API allows. Throws if there are user errors. */
export async function replayFailed(client: Client, subscriptionId: string): Promise<void> {
  const input = { subscriptionId, maxPerSecond: 500 };
  const { replayWebhookEvents } = await client.request<Result, object>(parse(mutation), { input });
  if (replayWebhookEvents.userErrors.length !== 0) throw new Error(JSON.stringify(replayWebhookEvents));
}
