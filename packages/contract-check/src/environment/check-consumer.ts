import {
  isInputObjectType,
  isRequiredInputField,
  isTypeSubTypeOf,
  parseType,
  typeFromAST,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { readGraphqlSchema } from '../graphql/read-contract.ts';
import type { SourceText } from '../text-file.ts';
import { coordinatesOf } from '../uses/coordinates.ts';
import { parseDocument } from '../uses/parse-document.ts';
import { documentRules } from '../uses/read-documents.ts';
import { acceptedPins, sdlOf } from './check-build.ts';
import type { Build, Uses } from './generated/files.ts';
import { hasReadableSchemas } from './live-builds.ts';
import { idOf, type Party, type Question } from './question.ts';

/** Asks whether each live build has what a consumer needs. */
export function checkConsumer(question: Question, uses: Uses, file: string): void {
  const { parties, known, found } = question;
  const { consumer, pin, schema, events } = uses;
  const documents = uses.operations.map(({ text }) => parseDocument({ file, text }));
  const ofSchemas = known.flatMap((build) => build.serves);
  const ofEvents = known.flatMap((build) => [...build.pins, ...build.renders]);
  for (const used of [...schema, ...events]) {
    const name = `${used.package ?? 'no package'} ${used.packageVersion ?? ''} ${used.file ?? used.sha256}`;
    const message = `${consumer} was built against an unpublished contract: ${name}.`;
    const files = 'event' in used ? ofEvents : ofSchemas;
    if (!isPublished(used, files) || (pin === null && schema.includes(used)))
      found('deploy/contractUnpublished', name, message, 'Build it against a published version first.');
  }
  const serves = (build: Build): boolean => servedOf(build).length > 0;
  for (const party of schema.length === 0 ? [] : ofAppsWith(schema[0]?.package ?? 'its schema', serves)) {
    const served = servedOf(party.build).find(({ version }) => version === pin);
    if (!hasReadableSchemas(question, party)) continue;
    if (served === undefined) broken(party, `version ${pin}`, 'does not serve it');
    else
      for (const problem of problemsOf(sdlOf(party, served), uses, documents))
        broken(party, `${served.interface}@${served.version}`, problem);
  }
  for (const { event } of events) {
    const type = event.slice(0, event.indexOf('@') + 1);
    for (const party of ofAppsWith(event, ({ renders }) => renders.length > 0))
      if (!party.build.renders.some((each) => each.event === event)) broken(party, event, 'does not render it');
    for (const party of ofAppsWith(event, ({ pins }) => pins.some((each) => each.event.startsWith(type))))
      if (!acceptedPins(question, party.build).includes(event)) broken(party, event, 'does not accept it as a pin');
  }

  function servedOf(build: Build): Build['serves'] {
    return build.serves.filter((served) => schema.some((used) => used.package === served.package));
  }

  /** The live builds of the apps that have what is needed: also an older one, which has nothing of it. */
  function ofAppsWith(needed: string, has: (build: Build) => boolean): Party[] {
    const apps = new Set(known.filter(has).map(({ app }) => app));
    const live = parties.filter(({ build }) => apps.has(build.app));
    const missing = `${consumer} needs ${needed}, for which no build is live.`;
    if (live.length === 0) found('deploy/appNotLive', needed, missing, 'Deploy one first.');
    return live;
  }

  function broken({ build, label }: Party, contract: string, problem: string): void {
    const message = `${consumer} needs ${contract}, but ${label} ${problem}.`;
    const first = `Deploy a version of ${build.app} that has it first.`;
    found('deploy/consumerBroken', `${idOf(build)} ${contract}`, message, first);
  }
}

/** Not if a build has another file in the same version of the package. */
function isPublished(used: Uses['schema'][number], files: readonly Partial<Uses['schema'][number]>[]): boolean {
  if (used.package === null || used.packageVersion === null) return false;
  const keys = ['package', 'packageVersion', 'file'] as const;
  return !files.some((each) => keys.every((key) => each[key] === used[key]) && each.sha256 !== used.sha256);
}

/** What a schema lacks that the operations of a consumer need, and that it expected of it. */
function problemsOf(sdl: SourceText, uses: Uses, documents: readonly DocumentNode[]): string[] {
  const schema = readGraphqlSchema([sdl]);
  const errors = documents.flatMap((document) => validate(schema, document, documentRules));
  if (errors.length > 0)
    return [...new Set(errors.map(({ message }) => `rejects its operations: ${message.replace(/\.$/, '')}`))];
  const live = new Map(documents.flatMap((document) => [...coordinatesOf(schema, document)]));
  const lost = Object.entries(uses.coordinates).flatMap(([coordinate, expected]) => {
    const type = live.get(coordinate);
    if (type === undefined) return [`lacks ${coordinate}`];
    // The arguments of a document are validated.
    if (expected === null || type === null || coordinate.includes('(')) return [];
    const [now, before] = [type, expected].map((text) => typeFromAST(schema, parseType(text)));
    const [given, wanted] = inputFieldsOf(schema, coordinate) ? [before, now] : [now, before];
    const fits = given !== undefined && wanted !== undefined && isTypeSubTypeOf(schema, given, wanted);
    return fits ? [] : [`has ${coordinate} of the type ${type}, not ${expected}`];
  });
  const added = [...live.keys()].filter((coordinate) => {
    const field = inputFieldsOf(schema, coordinate)?.[coordinate.slice(coordinate.indexOf('.') + 1)];
    return !Object.hasOwn(uses.coordinates, coordinate) && field !== undefined && isRequiredInputField(field);
  });
  return [...lost, ...added.map((coordinate) => `requires ${coordinate}`)];
}

/** The fields of the input type of a coordinate. Null if it is of another type. */
function inputFieldsOf(schema: GraphQLSchema, coordinate: string) {
  const type = schema.getType(coordinate.split('.', 1).join(''));
  return isInputObjectType(type) ? type.getFields() : null;
}
