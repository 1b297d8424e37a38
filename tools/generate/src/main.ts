import { parseArgs } from 'node:util';
import {
  hasDeployment,
  hasPayloads,
  hasReference,
  type Layout,
  type LayoutWithPayloads,
  readChosenLayout,
  readLayouts,
} from '@deedwire/layout';
import { type Generated, outOfDate, writeGenerated } from './generated.ts';

interface Generator {
  readonly name: string;
  /** Writes files of one service. Null if the service has no such part. */
  readonly ofService?: (layout: Layout) => Promise<Generated | null>;
  /** Writes files of this repository, of all its services. */
  readonly ofWorkspace?: (layouts: readonly Layout[]) => Promise<Generated | null>;
}

const withPayloads = async (layout: Layout, run: (layout: LayoutWithPayloads) => Promise<Generated>) =>
  hasPayloads(layout) ? await run(layout) : null;

// Imported one after the other, because a generator reads files that earlier generators have written.
const generators: readonly Generator[] = [
  // `core` imports its list, and the payloads need the samples of events.
  { name: 'own-events', ofWorkspace: async () => (await import('./served-versions.ts')).ownEvents() },
  {
    name: 'composed-contracts',
    ofService: async (layout) => (await import('./composed/composed-contracts.ts')).composedContracts(layout),
  },
  {
    name: 'common-interface',
    ofWorkspace: async () => (await import('./composed/common-interface.ts')).commonInterface(),
  },
  {
    name: 'composed-payloads',
    ofService: (layout) =>
      withPayloads(layout, async (each) => (await import('./payloads/composed-payloads.ts')).composedPayloads(each)),
  },
  {
    name: 'schema-packages',
    ofService: async (layout) => await (await import('./schema-packages/schema-packages.ts')).schemaPackages(layout),
  },
  { name: 'contract-check', ofWorkspace: async () => await (await import('./contract-check.ts')).contractCheck() },
  {
    name: 'own-payloads',
    ofWorkspace: async (layouts) => {
      const [first] = layouts.filter(hasPayloads);
      return first === undefined ? null : await (await import('./payloads/payloads.ts')).ownPayloads(first);
    },
  },
  {
    name: 'payloads',
    ofService: (layout) =>
      withPayloads(layout, async (each) => await (await import('./payloads/payloads.ts')).payloads(each)),
  },
  {
    name: 'served-versions',
    ofService: async (layout) => (await import('./served-versions.ts')).servedVersions(layout),
  },
  {
    name: 'snapshots',
    ofService: (layout) => withPayloads(layout, async (each) => await (await import('./snapshots.ts')).snapshots(each)),
  },
  { name: 'typical-bodies', ofWorkspace: async () => (await import('./typical-bodies.ts')).typicalBodies() },
  {
    name: 'operations',
    ofWorkspace: async (layouts) => await (await import('./operations.ts')).operations(layouts),
  },
  {
    name: 'portal-documents',
    ofWorkspace: async (layouts) => await (await import('./portal-documents.ts')).portalDocuments(layouts),
  },
  { name: 'api-reports', ofWorkspace: async () => await (await import('./api-reports/api-reports.ts')).apiReports() },
  {
    name: 'reference',
    ofService: async (layout) =>
      hasReference(layout) ? await (await import('./reference/reference-pages.ts')).reference(layout) : null,
  },
  {
    name: 'deployment',
    ofService: async (layout) => (hasDeployment(layout) ? (await import('./deployment.ts')).deployment(layout) : null),
  },
  {
    name: 'deployed-service',
    ofWorkspace: async (layouts) => (await import('./deployed-service.ts')).deployedService(layouts),
  },
  { name: 'threats', ofWorkspace: async () => (await import('./threats.ts')).threats() },
  { name: 'type-references', ofWorkspace: async () => (await import('./type-references.ts')).typeReferences() },
];

// 141 if the reader of the messages, for example `head`, has gone. This is the exit code of SIGPIPE, which Node ignores.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));

/**
 * `pnpm generate [--check] [--service <folder>] [generator…]`: runs these generators, or all of them, for each service of the workspace.
 * With `--service`, only those of a service, for this one. With `--check`, it writes nothing, and lists the files that are out of date, up
 * to the first generator that has some, because the others may read them.
 */
try {
  const options = { check: { type: 'boolean', default: false }, service: { type: 'string' } } as const;
  const { values, positionals: chosen } = parseArgs({ options, allowPositionals: true });
  const known = generators.filter(({ ofService }) => values.service === undefined || ofService !== undefined);
  const unknown = chosen.filter((name) => !known.some((generator) => generator.name === name));
  if (unknown.length > 0) {
    const of = values.service === undefined ? 'No generator' : 'No generator of a service';
    throw new Error(`${of} is called ${unknown.join(' or ')}. Use ${known.map(({ name }) => name).join(', ')}.`);
  }
  const layouts = values.service === undefined ? await readLayouts() : [await readChosenLayout(values.service)];
  for (const { name, ofService, ofWorkspace } of known) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const generated: Generated[] = [(await ofWorkspace?.(layouts)) ?? []].flat();
    if (ofService) for (const layout of layouts) generated.push(...[(await ofService(layout)) ?? []].flat());
    if (!values.check) for (const each of generated) writeGenerated(each);
    const paths = values.check ? generated.flatMap(outOfDate).toSorted() : [];
    if (paths.length === 0) continue;
    process.stdout.write(paths.map((path) => `out of date: ${path}\n`).join(''));
    process.exitCode = 1;
    break;
  }
} catch (error) {
  // A contract or an example is wrong, not the generator: the message says what to change, and a stack trace would hide it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
