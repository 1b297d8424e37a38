import { readText } from '../workspace-files.ts';

interface DeliveryHeaders {
  headers: Record<string, { sent: 'always' | 'with events' | 'during a secret rotation'; description: string }>;
}

const { headers }: DeliveryHeaders = JSON.parse(readText('packages/webhook-events/delivery-headers.json'));

/** Descriptions of the headers of a delivery outside a secret rotation, without those of the transport. */
export const deliveryHeaderDescriptions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(headers)
    .filter(([, { sent }]) => sent !== 'during a secret rotation')
    .map(([name, { description }]) => [name, description]),
);
