import {
  Kind,
  isInputObjectType,
  isRequiredInputField,
  parseType,
  print,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type TypeNode,
} from 'graphql';
import { readGraphqlSchema } from '../graphql/read-contract.ts';
import type { SourceText } from '../text-file.ts';
import { coordinatesOf } from '../uses/coordinates.ts';
import { documentRules, parseDocument } from '../uses/read-documents.ts';
import type { Uses } from '../uses/uses.ts';
import { acceptedPins, renders, sdlOf } from './check-build.ts';
import type { Build, ContractFile } from './environment.ts';
import { foundFor, idOf, type Party, type Question } from './question.ts';

/** Asks whether each live build has what a consumer needs. */
export function checkConsumer(question: Question, uses: Uses, file: string): void {
  const { parties, known } = question;
  const { consumer, pin, schema, events } = uses;
  const found = foundFor(question, consumer);
  const documents = uses.operations.map(({ text }) => parseDocument({ file, text }));
  const files = known.flatMap((build) => [...build.serves, ...build.pins, ...build.renders]);
  for (const used of [...schema, ...events]) {
    const name = `${used.package ?? 'no package'} ${used.packageVersion ?? ''} ${used.file ?? used.sha256}`;
    if (!isPublished(used, files) || (pin === null && schema.includes(used))) {
      const message = `${consumer} was built against an unpublished contract: ${name}.`;
      found('unknown', 'deploy/contractUnpublished', name, message, 'Build it against a published version first.');
    }
  }
  const serving = ofAppsWith((build) => servedOf(build).length > 0);
  if (schema.length > 0 && serving.length === 0) missing(schema[0]?.package ?? 'its schema');
  for (const party of serving) {
    const served = servedOf(party.build).find(({ version }) => version === pin);
    if (served === undefined) broken(party, `version ${pin}`, 'does not serve it');
    else
      for (const problem of problemsOf(sdlOf(party, served), uses, documents))
        broken(party, `${served.interface}@${served.version}`, problem);
  }
  for (const { event } of events) {
    const type = event.slice(0, event.indexOf('@') + 1);
    const workers = ofAppsWith((build) => build.renders.length > 0);
    const accepting = ofAppsWith(({ pins }) => pins.some((each) => each.event.startsWith(type)));
    if (workers.length === 0 || accepting.length === 0) missing(event);
    for (const party of workers) if (!renders(party.build, event)) broken(party, event, 'does not render it');
    for (const party of accepting)
      if (!acceptedPins(question, party.build).includes(event)) broken(party, event, 'does not accept it as a pin');
  }

  /** Also an older build of such an app, which has nothing of it. */
  function ofAppsWith(has: (build: Build) => boolean): Party[] {
    const apps = new Set(known.filter(has).map(({ app }) => app));
    return parties.filter(({ build }) => apps.has(build.app));
  }

  function servedOf(build: Build): Build['serves'] {
    return build.serves.filter((served) => schema.some((used) => used.package === served.package));
  }

  function missing(what: string): void {
    const message = `${consumer} needs ${what}, for which no build is live.`;
    found('unknown', 'deploy/appNotLive', what, message, 'Deploy one first.');
  }

  function broken({ build, label }: Party, contract: string, problem: string): void {
    const message = `${consumer} needs ${contract}, but ${label} ${problem}.`;
    const first = `Deploy a version of ${build.app} that has it first.`;
    found('no', 'deploy/consumerBroken', `${idOf(build)} ${contract}`, message, first);
  }
}

/** Not if a build has another file in the same version of the package. */
function isPublished(used: Uses['schema'][number], files: readonly Partial<ContractFile>[]): boolean {
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
    if (expected === null || type === null) return [];
    const [one, other] = [parseType(expected), parseType(type)];
    const fits =
      coordinate.includes('(') ||
      (inputTypeOf(schema, coordinate) ? isAssignable(one, other) : isAssignable(other, one));
    return fits ? [] : [`has ${coordinate} of the type ${type}, not ${expected}`];
  });
  const added = [...live.keys()].filter((coordinate) => {
    const field = inputTypeOf(schema, coordinate)?.getFields()[coordinate.slice(coordinate.indexOf('.') + 1)];
    return !Object.hasOwn(uses.coordinates, coordinate) && field !== undefined && isRequiredInputField(field);
  });
  return [...lost, ...added.map((coordinate) => `requires ${coordinate}`)];
}

function inputTypeOf(schema: GraphQLSchema, coordinate: string) {
  const type = schema.getType(coordinate.split('.', 1)[0] ?? '');
  return isInputObjectType(type) ? type : null;
}

/** Whether a value of the first type is valid where the second one is expected. The arguments of a document are validated. */
function isAssignable(from: TypeNode, to: TypeNode): boolean {
  if (to.kind === Kind.NON_NULL_TYPE) return from.kind === Kind.NON_NULL_TYPE && isAssignable(from.type, to.type);
  if (from.kind === Kind.NON_NULL_TYPE) return isAssignable(from.type, to);
  if (from.kind === Kind.LIST_TYPE && to.kind === Kind.LIST_TYPE) return isAssignable(from.type, to.type);
  return print(from) === print(to);
}
