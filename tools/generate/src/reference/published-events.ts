import type { LayoutWithReference } from '@deedwire/layout';
import { type EventType, readEventTypes } from '../payloads/event-types.ts';
import { type History, readHistory } from './history.ts';

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
