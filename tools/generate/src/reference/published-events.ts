import type { LayoutWithReference } from '@deedwire/layout';
import { type EventType, readEventTypes } from '../payloads/event-types.ts';
import { type History, readHistory } from './history.ts';
import { code, link } from './markdown.ts';

/** What pages say of the events of a service. */
export interface PublishedEvents extends Pick<LayoutWithReference, 'names' | 'interfaceNames' | 'payloads'> {
  readonly history: History;
  /** Ordered by name. */
  readonly types: readonly EventType[];
}

export async function readPublishedEvents(layout: LayoutWithReference): Promise<PublishedEvents> {
  const { names, interfaceNames, payloads } = layout;
  return { names, interfaceNames, payloads, history: readHistory(payloads), types: await readEventTypes(layout) };
}

/**
 * A link to the newest released version of an event type.
 *
 * @param base the path of the event pages, relative to the page with the link
 * @throws {Error} if no version of the type is released
 */
export function eventLink({ types }: PublishedEvents, type: string, base: string): string {
  const version = types.find((each) => each.type === type)?.versions.findLast(({ status }) => status === 'current');
  if (version === undefined) throw new Error(`${type}: an example causes it, but no version of it is released`);
  return link(code(type), `${base}${type}/${version.version}.md`);
}
