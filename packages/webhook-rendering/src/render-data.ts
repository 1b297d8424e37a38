import type { EventSnapshots } from '@deedwire/domain';

/** Renders the `data` of a payload from a snapshot. */
export type RenderData<Snapshot> = (snapshot: Snapshot) => object;

/** By event type, then by version. */
export type Renderers = {
  readonly [Type in keyof EventSnapshots]: Readonly<Record<string, RenderData<EventSnapshots[Type]>>>;
};
