import { alertTypes, names, sampleSnapshots, snapshotSchema } from '@deedwire/domain';
import { knownEventVersions, neededPart } from '@deedwire/webhook-rendering';

const samples = new Map<string, unknown>(Object.entries(sampleSnapshots(names.gidNamespace)));

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  appends: alertTypes.map((type) => ({ type, snapshot: snapshotSchema(type) })),
  renders: knownEventVersions.map(({ type, version, renderData }) => ({
    type,
    version,
    /** The part of the snapshot from which it renders. */
    needs: neededPart(renderData, samples.get(type), snapshotSchema(type)),
  })),
};
