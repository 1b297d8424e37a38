import type { Client } from '@deedwire/testing';
import { parse } from 'graphql';

interface Payload {
  userErrors: { code: string }[];
}

/** Replays the failed deliveries of a subscription as fast as the API allows. Throws if there are user errors. */
export function replayFailed(client: Client, subscriptionId: string): Promise<void> {
  return mutate(client, 'replayWebhookEvents', 'ReplayWebhookEventsInput', { subscriptionId, maxPerSecond: 500 });
}

/** Sends a delivery again. Throws if there are user errors. */
export function retryDelivery(client: Client, id: string): Promise<void> {
  return mutate(client, 'retryWebhookDelivery', 'RetryWebhookDeliveryInput', { id });
}

async function mutate(client: Client, field: string, inputType: string, input: object): Promise<void> {
  const text = `mutation ($input: ${inputType}!) { ${field}(input: $input) { userErrors { code } } }`;
  const { [field]: payload } = await client.request<Record<string, Payload>, object>(parse(text), { input });
  if (payload?.userErrors.length !== 0) throw new Error(JSON.stringify(payload));
}
