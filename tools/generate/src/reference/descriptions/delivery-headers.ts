import { readText } from '../../workspace-files.ts';

interface DeliveryHeader {
  sent:
    | 'always'
    | 'with events'
    | 'with replays'
    | 'with test events'
    | 'during a secret rotation'
    | 'with deprecated versions';
  description: string;
}

const manifest: { headers: Record<string, DeliveryHeader> } = JSON.parse(
  readText('packages/webhook-events/delivery-headers.json'),
);

/** The headers of deliveries, by name, without those of the transport. */
export const deliveryHeaders: Readonly<Record<string, DeliveryHeader>> = manifest.headers;

/** Descriptions of the headers of a delivery of a version that is not deprecated, that is no test, outside a secret rotation. */
export const deliveryHeaderDescriptions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(deliveryHeaders)
    .filter(([, { sent }]) => sent === 'always' || sent === 'with events')
    .map(([name, { description }]) => [name, description]),
);
