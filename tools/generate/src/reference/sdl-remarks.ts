import { mapElements } from '@deedwire/release';
import { type DocumentNode, parse } from 'graphql';
import type { Remark } from './history.ts';

/**
 * Parses SDL and appends the remark of each element to its description. An element without a description stays without one, so
 * that the tests find it.
 */
export function parseWithRemarks(sdl: string, remark: Remark): DocumentNode {
  return mapElements(parse(sdl), ({ description, ...element }, coordinate, parent) =>
    description === undefined
      ? undefined
      : { ...element, description: { ...description, value: description.value + remark(coordinate, parent) } },
  );
}
