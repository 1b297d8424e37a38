import { alertTypes, eventOf, snapshotSchema } from '@deedwire/core';
import { neededPart, renderingsOf } from '@deedwire/webhook-rendering';
import { service } from './generated/service.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  appends: alertTypes.flatMap((type) => {
    const event = eventOf(service, type);
    return event === undefined ? [] : [{ type, snapshot: snapshotSchema(event) }];
  }),
  renders: service.events.flatMap((event) =>
    renderingsOf(event).map((rendering) => ({
      type: rendering.type,
      version: rendering.version,
      /** The part of the snapshot from which it renders. */
      needs: neededPart(rendering, event.sample(service.names.gidNamespace), snapshotSchema(event)),
    })),
  ),
};
