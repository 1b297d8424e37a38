/** All that `Direction` can be. */
export const directions = ['producer', 'consumer', 'both'] as const;

/**
 * Who writes what a schema describes. `producer`: we do (a webhook's payload, an answer), and others read it. `consumer`:
 * others do (a request, a configuration), and we read it. `both`: the larger verdict of the two.
 */
export type Direction = (typeof directions)[number];

export function isDirection(value: unknown): value is Direction {
  return directions.some((direction) => direction === value);
}
