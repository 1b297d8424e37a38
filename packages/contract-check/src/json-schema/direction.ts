/** All directions. */
export const directions = ['producer', 'consumer', 'both'] as const;

/**
 * Who writes the values that a schema describes. `producer`: the owner of the schema writes them and others read them,
 * for example a webhook payload or a response. `consumer`: others write them and the owner reads them, for example a
 * request or a configuration. `both`: the larger verdict of the two.
 */
export type Direction = (typeof directions)[number];
