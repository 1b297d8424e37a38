import { alertTypes, eventOf, snapshotSchema } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { neededPart, renderingsOf } from '@deedwire/webhook-rendering';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  appends: alertTypes.flatMap((type) => {
    const event = eventOf(firm, type);
    return event === undefined ? [] : [{ type, snapshot: snapshotSchema(event) }];
  }),
  renders: firm.events.flatMap((event) =>
    renderingsOf(event).map((rendering) => ({
      type: rendering.type,
      version: rendering.version,
      /** The part of the snapshot from which it renders. */
      needs: neededPart(rendering, event.sample(firm.names.gidNamespace), snapshotSchema(event)),
    })),
  ),
};
