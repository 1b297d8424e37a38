import { fileURLToPath } from 'node:url';

/** The package of Deedwire, as `--events` takes it. */
export const deedwireEvents = fileURLToPath(new URL('../../../webhook-events', import.meta.url));

/** That of another team. */
export const orderEvents = fileURLToPath(new URL('order-events', import.meta.url));
