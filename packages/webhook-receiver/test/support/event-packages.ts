import { fileURLToPath } from 'node:url';

/** The package of the events of these tests, as `--events` takes it. */
export const orderEvents = fileURLToPath(new URL('order-events', import.meta.url));
