import { type InterfaceName, testService } from '@deedwire/core/test-service';
import {
  commonFolder,
  composeManifest,
  composeSdl,
  costsOf,
  fileExists,
  fillSlots,
  type Manifest,
  readEditions,
  readText,
  type Sections,
} from '@deedwire/generate/composed';

/** What an interface adds to the manifest of the common half. */
const ownSections: Readonly<Record<InterfaceName, Sections>> = {
  customer: {
    abilities: { 'Mutation.placeOrder': ['WRITE'], 'Query.customer': ['READ'] },
    costWeights: { 'Customer.name': 0.18, 'Mutation.placeOrder': 10, 'PlaceOrderUserError.message': 1 },
    costListSizes: { 'PlaceOrderPayload.userErrors': 30 },
  },
  supplier: { abilities: { 'Query.supplier': ['READ'] }, costWeights: { 'Supplier.name': 0.18 } },
};

const slots = {
  headerPrefix: testService.names.headerPrefix,
  eventTypeInDescriptions: 'order.placed',
  descriptionOfRecordId: ['Filter by record: only deliveries of events about the order with this global identifier.'],
};

/**
 * The contract of an interface, as a schema package exports it. A version uses the edition of its date, and the types of the interface are
 * the same at each.
 */
export function contractOf(name: InterfaceName) {
  const { versions } = testService.interfaces[name];
  const composed = new Map(versions.map(({ version }) => [version, compose(name, version)]));
  const at = (version: string) => {
    const found = composed.get(version);
    if (found === undefined) throw new Error(`The interface ${name} has no version ${version}.`);
    return found;
  };
  return {
    versions: versions.map((version) => ({ deprecatedOn: null, ...version })),
    sdl: (version: string) => at(version).sdl,
    costs: (version: string) => costsOf(at(version).manifest),
    abilities: (version: string) => at(version).manifest.abilities,
    manifest: (version: string): Readonly<Record<string, unknown>> => ({ ...at(version).manifest }),
  };
}

const written = (path: string) => ({ path, text: readText(path) });

function compose(name: InterfaceName, version: string): { sdl: string; manifest: Manifest } {
  const editions = readEditions().filter(({ date }) => date <= version);
  const own = written(`tools/test-service/own/${name}.graphql`);
  const common = editions.map(({ date, removes }) => ({
    ...written(`${commonFolder}/editions/${date}.graphql`),
    removes,
  }));
  const manifests = editions.map(({ date }) => `${commonFolder}/editions/${date}.manifest.json`).filter(fileExists);
  const manifest = composeManifest(
    ownSections[name],
    manifests.map((path): Sections => JSON.parse(readText(path))),
  );
  const place = { path: own.path, file: 'tools/test-service/src/contracts.ts' };
  return {
    sdl: fillSlots(slots, composeSdl(`# ${name} ${version}`, own, common), place),
    manifest: JSON.parse(fillSlots(slots, JSON.stringify(manifest), place)),
  };
}
