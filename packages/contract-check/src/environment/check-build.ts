import { GraphQLObjectType } from 'graphql';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { readGraphqlSchema } from '../graphql/read-contract.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { dayOf } from '../workspace/version-status.ts';
import type { Build } from './environment.ts';
import { foundFor, idOf, nameOf, type Party, type Question, type Reason } from './question.ts';
import { coverageOf, type Coverage } from './use-coverage.ts';

/** A build that appends events or accepts pins, and a worker that does not fit it. */
interface Misfit {
  readonly rule: Reason;
  readonly contract: string;
  readonly message: string;
  /** What another worker must do, or another writer. */
  readonly ofWorker: string;
  readonly ofWriter: string;
  readonly isWorkerFit: (worker: Build) => boolean;
}

/** Asks whether a build fits the database, each party, and what clients and subscriptions use. */
export function checkBuild(question: Question, own: Party): void {
  const { environment, parties, known } = question;
  const { build, label } = own;
  const found = foundFor(question, idOf(build));
  const apps = [...environment.expectedApps, ...environment.otherApps];
  const noApp = `${build.app} is no app of ${environment.environment}: ${apps.join(', ')}.`;
  if (!apps.includes(build.app)) found('unknown', 'deploy/appUnknown', build.app, noApp);
  checkMigration();
  const accepted = acceptedPins(question, build);
  const needed = new Set([
    ...[...environment.pins, ...environment.queued].flatMap(({ event }) => event ?? []),
    ...parties.flatMap((party) => acceptedPins(question, party.build)),
    ...accepted,
  ]);
  for (const other of parties) {
    for (const misfit of misfits(question, own, other, needed)) reportWorker(misfit, other);
    for (const misfit of misfits(question, other, own, needed))
      report(misfit, other, newVersion(other, misfit.ofWriter));
    for (const worker of parties)
      for (const misfit of snapshotMisfits(other, worker, new Set(accepted))) reportWorker(misfit, worker);
  }
  if (isWorker(question, build)) checkDropped();
  for (const party of parties) if (party.isLive && party.build.app === build.app) checkServed(party);

  function reportWorker(misfit: Misfit, worker: Party): void {
    const fit = known.find((each) => each.app === worker.build.app && misfit.isWorkerFit(each));
    report(misfit, worker, fit === undefined ? newVersion(worker, misfit.ofWorker) : nameOf(fit));
  }

  function report({ rule, contract, message }: Misfit, other: Party, first: string): void {
    found('no', rule, `${idOf(other.build)} ${contract}`, message, `Deploy ${first} first.`);
  }

  function checkMigration(): void {
    const { migration, needsMigration, environment: place } = environment;
    const number = Number.parseInt(build.migration, 10);
    const needs = `The database of ${place} has the migration ${migration}, but ${label} needs ${build.migration}.`;
    if (number > Number.parseInt(migration, 10))
      found('no', 'deploy/migrationMissing', build.migration, needs, 'Apply the migrations first.');
    const ends = `The database of ${place} has ended builds before the migration ${needsMigration}, but ${label} knows only ${build.migration}, so it would not start.`;
    if (needsMigration !== null && number < Number(needsMigration))
      found('no', 'deploy/migrationTooLate', build.migration, ends);
  }

  /** What subscriptions pin, and what is queued. */
  function checkDropped(): void {
    for (const [event, [first, ...others]] of Map.groupBy(environment.pins, (pin) => pin.event)) {
      if (event === null || first === undefined || renders(build, event)) continue;
      const message = `${label} cannot render ${event}, which ${pinnedBy(first, others)}. These deliveries would fail.`;
      found('no', 'deploy/versionNotRendered', event, message, movePins);
    }
    if (environment.isQueueCut)
      found('unknown', 'deploy/queueTooLong', 'queue', 'Not all types in the queue are known: it is too long.');
    for (const { type, event, count } of environment.queued) {
      if (event === null ? knows(build, type) : renders(build, event)) continue;
      const message = `${label} does not know ${event ?? type}, which is queued (${count}).`;
      found('no', 'deploy/typeUnknown', `queue ${event ?? type}`, message, 'Let the live worker deliver them first.');
    }
  }

  /** What clients and subscriptions pin or use of the versions that a build of the same app serves and accepts. */
  function checkServed(party: Party): void {
    const isServed = (name: string): boolean => party.build.serves.some((served) => served.interface === name);
    for (const event of acceptedPins(question, party.build)) {
      const [first, ...others] = environment.pins.filter((pin) => pin.event === event && isServed(pin.interface));
      if (first === undefined || accepted.includes(event)) continue;
      const message = `${label} does not accept ${event}, which ${pinnedBy(first, others)}.`;
      found('no', 'deploy/usedContractBroken', `${idOf(party.build)} ${event}`, message, movePins);
    }
    for (const served of party.build.serves) {
      const version = `${served.interface}@${served.version}`;
      const now = build.serves.find((each) => each.interface === served.interface && each.version === served.version);
      const lost = (coordinate: string | null, problem: string): void => {
        const place = `${idOf(party.build)} ${version} ${coordinate ?? ''}`.trim();
        const counted = isDeprecated(served.sdl, coordinate) ? coordinate : null;
        const pins = environment.pins.filter((pin) => !counted && `${pin.interface}@${pin.version}` === version);
        const uses = usesOf(question, version, counted);
        const users = new Set([...pins.map(({ id }) => id), ...uses.map(({ client }) => client)]);
        const key = counted && `${served.version} ${counted}`;
        const { missing, gaps } = coverageOfInterface(question, served.interface, key);
        const first = `Move these clients first, or deploy a version of ${build.app} that keeps it.`;
        const used = `${label} ${problem} It is used by ${[...users].join(', ')}.`;
        const uncounted = `${label} ${problem} Its use is unknown: ${missing.join(' ')}`;
        if (users.size > 0) found('no', 'deploy/usedContractBroken', place, used, first);
        else if (missing.length > 0) found('unknown', 'deploy/useNotCounted', place, uncounted);
        else for (const gap of gaps) question.gaps.add(gap);
      };
      if (now === undefined) lost(null, `does not serve ${version}.`);
      else if (now.sha256 !== served.sha256 || now.sdl !== served.sdl)
        for (const { verdict, coordinate, message } of compareGraphql(sdlOf(party, served), sdlOf(own, now)).changes)
          if (verdict === 'major') lost(coordinate, `breaks ${coordinate} of ${version}: ${message}`);
    }
  }
}

function* misfits(question: Question, writer: Party, worker: Party, needed: ReadonlySet<string>): Generator<Misfit> {
  if (!isWorker(question, worker.build)) return;
  const unknown = writer.build.appends.map(({ type }) => type).filter((type) => !knows(worker.build, type));
  for (const type of unknown)
    yield {
      rule: 'deploy/typeUnknown',
      contract: type,
      message: `${worker.label} does not know ${type}, which ${writer.label} appends. These events would wait.`,
      ofWorker: `knows ${type}`,
      ofWriter: `does not append ${type}`,
      isWorkerFit: (each) => knows(each, type),
    };
  for (const event of acceptedPins(question, writer.build))
    if (!renders(worker.build, event) && !unknown.includes(typeOf(event)))
      yield {
        rule: 'deploy/versionNotRendered',
        contract: event,
        message: `${worker.label} cannot render ${event}, which ${writer.label} accepts as a pin. These deliveries would fail.`,
        ofWorker: `renders ${event}`,
        ofWriter: `does not accept ${event}`,
        isWorkerFit: (each) => renders(each, event),
      };
  yield* snapshotMisfits(writer, worker, needed);
}

function* snapshotMisfits(writer: Party, worker: Party, events: ReadonlySet<string>): Generator<Misfit> {
  for (const { type, snapshot } of writer.build.appends)
    for (const { event, needs } of worker.build.renders) {
      const lacking = typeOf(event) === type && events.has(event) ? lackingIn(snapshot, needs) : null;
      if (lacking === null) continue;
      yield {
        rule: 'deploy/snapshotInsufficient',
        contract: event,
        message: `${worker.label} cannot render ${event} from what ${writer.label} appends: ${lacking} These deliveries would fail.`,
        ofWorker: `renders ${event} from it`,
        ofWriter: `appends what ${event} needs`,
        isWorkerFit: (each) =>
          each.renders.some((one) => one.event === event && lackingIn(snapshot, one.needs) === null),
      };
    }
}

const movePins = 'Move these pins to another version first.';

function pinnedBy({ id }: { id: string }, others: readonly object[]): string {
  return others.length === 0 ? `${id} pins` : `${id} and ${others.length} more pin`;
}

function newVersion({ build }: Party, what: string): string {
  return `a version of ${build.app} that ${what}`;
}

/** Why a worker cannot render from a snapshot. Null if it can. */
function lackingIn(snapshot: object, needs: object): string | null {
  const [from, to] = [needs, snapshot].map((schema) => ({ file: 'snapshot', text: JSON.stringify(schema) }));
  if (from === undefined || to === undefined) return null;
  const { changes } = compareJsonSchemas(from, to, { direction: 'producer' });
  const broken = changes.find(({ verdict }) => verdict === 'major');
  return broken === undefined ? null : `${broken.coordinate}: ${broken.message}`;
}

/** Pins end with the sunset of their version. */
export function acceptedPins({ environment }: Question, { pins }: Build): string[] {
  const today = dayOf(new Date(environment.takenAt));
  return pins.flatMap(({ event, sunsetOn }) => (sunsetOn === null || sunsetOn > today ? [event] : []));
}

/** Also a build that renders nothing, of an app whose other builds do. */
function isWorker({ known }: Question, { app }: Build): boolean {
  return known.some((each) => each.app === app && each.renders.length > 0);
}

function typeOf(event: string): string {
  return event.slice(0, event.indexOf('@'));
}

function knows(worker: Build, type: string): boolean {
  return worker.renders.some(({ event }) => typeOf(event) === type);
}

export function renders(worker: Build, event: string): boolean {
  return worker.renders.some((each) => each.event === event);
}

export function sdlOf({ build }: Party, { file, sdl }: Build['serves'][number]) {
  return { file: `${idOf(build)}:${file}`, text: sdl };
}

/** The use of deprecated fields is counted, and that of others is not. */
function isDeprecated(sdl: string, coordinate: string | null): boolean {
  const [, typeName = '', field = ''] = /^(\w+)\.(\w+)$/.exec(coordinate ?? '') ?? [];
  const type = typeName !== '' && readGraphqlSchema([{ file: 'sdl', text: sdl }]).getType(typeName);
  return type instanceof GraphQLObjectType && typeof type.getFields()[field]?.deprecationReason === 'string';
}

/** The uses of a version of an interface, or of a coordinate of it, in the window. The newest is first. */
export function usesOf({ environment, oldestDay }: Question, version: string, coordinate: string | null) {
  return environment.uses
    .filter((use) => `${use.interface}@${use.version}` === version && use.lastDay >= oldestDay)
    .filter((use) => coordinate === null || use.coordinate === coordinate)
    .toSorted((a, b) => (a.lastDay < b.lastDay ? 1 : -1));
}

/** Of all apps that serve an interface. */
export function coverageOfInterface(question: Question, name: string, coordinate: string | null): Coverage {
  const { environment, unusedForMs, maxGapMs, known } = question;
  const serving = known.filter(({ serves }) => serves.some((served) => served.interface === name));
  const all = [...new Set(serving.map(({ app }) => app))].map((app) =>
    coverageOf(environment, app, coordinate, unusedForMs, maxGapMs),
  );
  return { missing: all.flatMap(({ missing }) => missing), gaps: all.flatMap(({ gaps }) => gaps) };
}
