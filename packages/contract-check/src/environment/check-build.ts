import { compareGraphql } from '../graphql/compare-graphql.ts';
import { dayOf } from '../workspace/version-status.ts';
import type { Build, Environment } from './generated/files.ts';
import { hasReadableSchemas } from './live-builds.ts';
import { idOf, nameOf, rightsOf, type Party, type Question } from './question.ts';
import { uncountedUse, usesOf } from './use-coverage.ts';

/** Asks whether a build fits the database, each party, and what clients and subscriptions use. */
export function checkBuild(question: Question, own: Party): void {
  const { environment, parties, found } = question;
  const { app } = own.build;
  const apps = [...environment.expectedApps, ...environment.otherApps];
  if (!apps.includes(app))
    found('deploy/appUnknown', app, `${app} is no app of ${environment.environment}: ${apps.join(', ')}.`);
  checkMigration(question, own);
  checkPairs(question, own);
  if (isWorker(question, own.build)) checkDropped(question, own);
  for (const party of parties)
    if (party.isLive && party.build.app === app && hasReadableSchemas(question, party))
      checkServed(question, own, party);
}

function checkMigration({ environment, found }: Question, { build: { migration }, label }: Party): void {
  const { migration: applied, needsMigration, environment: place } = environment;
  const number = Number.parseInt(migration, 10);
  const needs = `The database of ${place} has the migration ${applied}, but ${label} needs ${migration}.`;
  if (number > Number.parseInt(applied, 10))
    found('deploy/migrationMissing', migration, needs, 'Apply the migrations first.');
  const ends = `The database of ${place} has ended builds before the migration ${needsMigration}, but ${label} knows only ${migration}, so it would not start.`;
  if (needsMigration !== null && number < Number(needsMigration)) found('deploy/migrationTooLate', migration, ends);
}

/** Each writer and worker, of which one is the build, or of which the worker has to render a pin that the build accepts. */
function checkPairs(question: Question, own: Party): void {
  const { environment, parties, known, found } = question;
  const all = [own, ...parties];
  const before = livePins(question, own);
  // What is queued has its snapshot already: it depends on the worker that renders it, and not on what an app appends from now on.
  const queued = isWorker(question, own.build) ? environment.queued : [];
  const used = [...environment.pins, ...queued].flatMap(({ event }) => event ?? []);
  const needed = [...used, ...all.flatMap(({ build }) => acceptedPins(question, build))];
  for (const writer of all)
    for (const worker of all) {
      if (writer === own && worker === own) continue;
      const isOwn = writer === own || worker === own;
      // What is accepted already, by the writer or the own app, does not break by this build, which may be what repairs it.
      const kept = acceptedPins(question, writer.build);
      const added = acceptedPins(question, own.build).filter((event) => !kept.includes(event) && !before.has(event));
      for (const { rule, contract, message } of misfits(question, writer, worker, isOwn ? needed : added)) {
        if (!isOwn && !rule.startsWith('deploy/snapshot')) continue;
        const other = worker === own ? writer.build : worker.build;
        const fits = (build: Build): boolean =>
          build.app === other.app &&
          misfits(question, writer, { ...worker, build }, needed).every(
            (left) => typeOf(left.contract) !== typeOf(contract),
          );
        const fit = worker === own ? undefined : known.find(fits);
        const first = fit === undefined ? `a version of ${other.app} that fits` : nameOf(fit);
        found(rule, `${idOf(other)} ${contract}`, message, `Deploy ${first} first.`);
      }
    }
}

/** What a writer, which appends events and accepts pins, has that a worker cannot handle. */
export function misfits(question: Question, writer: Party, worker: Party, events: readonly string[]) {
  if (!isWorker(question, worker.build)) return [];
  const { appends } = writer.build;
  const unknown = appends.flatMap(({ type }) => lackedBy(worker, type, `${writer.label} appends`) ?? []);
  const unrendered = acceptedPins(question, writer.build)
    .filter((event) => !unknown.some(({ contract }) => contract === typeOf(event)))
    .flatMap((event) => lackedBy(worker, event, `${writer.label} accepts as a pin`) ?? []);
  const insufficient = worker.build.renders.flatMap(({ event, needs }) => {
    const appended = events.includes(event) ? appends.find(({ type }) => type === typeOf(event)) : undefined;
    const renders = `render ${event} from what ${writer.label} appends`;
    const lacking =
      appended === undefined ? null : question.fitOf(writer.build.app, appended.snapshot, worker.build.app, needs);
    if (lacking === null) return [];
    const message =
      lacking.rule === 'deploy/snapshotNotCompared'
        ? `Whether ${worker.label} can ${renders} is unknown: ${lacking.problem}`
        : `${worker.label} cannot ${renders}: ${lacking.problem} These deliveries would fail.`;
    return [{ rule: lacking.rule, contract: event, message }];
  });
  return [...unknown, ...unrendered, ...insufficient];
}

/** What a worker lacks of what subscriptions pin, and of what is queued. */
function checkDropped({ environment, found }: Question, own: Party): void {
  for (const [event, pins] of Map.groupBy(environment.pins, (pin) => pin.event)) {
    const lacked = event === null ? null : lackedBy(own, event, pinnedBy(pins));
    if (lacked !== null) found(lacked.rule, lacked.contract, lacked.message, movePins);
  }
  if (environment.isQueueCut)
    found('deploy/queueTooLong', 'queue', 'Not all types in the queue are known: it is too long.');
  for (const { type, event, count } of environment.queued) {
    const lacked = lackedBy(own, event ?? type, `is queued (${count})`);
    const first = 'Let the live worker deliver them first.';
    if (lacked !== null) found(lacked.rule, `queue ${lacked.contract}`, lacked.message, first);
  }
}

/** What a build lacks of what clients and subscriptions pin or use of another build of its app. */
function checkServed(question: Question, own: Party, other: Party): void {
  const { environment, found } = question;
  const { build, label } = own;
  const accepted = acceptedPins(question, build);
  for (const event of acceptedPins(question, other.build).filter((each) => !accepted.includes(each))) {
    const isServed = (name: string): boolean => other.build.serves.some((served) => served.interface === name);
    const pins = environment.pins.filter((pin) => pin.event === event && isServed(pin.interface));
    const message = `${label} does not accept ${event}, which ${pinnedBy(pins)}.`;
    if (pins.length > 0) found('deploy/usedContractBroken', `${idOf(other.build)} ${event}`, message, movePins);
  }
  for (const served of other.build.serves) {
    const version = `${served.interface}@${served.version}`;
    const now = build.serves.find((each) => each.interface === served.interface && each.version === served.version);
    if (now === undefined) lost('', `does not serve ${version}.`, false);
    else if (now.sha256 !== served.sha256 || now.sdl !== served.sdl)
      for (const { verdict, rule, coordinate, message } of compareGraphql(sdlOf(other, served), sdlOf(own, now))
        .changes)
        if (verdict === 'major')
          lost(coordinate, `breaks ${coordinate} of ${version}: ${message}`, rule === 'graphql/fieldRemoved');

    /** @param isUsers whether only the users of the coordinate lose something */
    function lost(coordinate: string, problem: string, isUsers: boolean): void {
      const key = `${served.version} ${coordinate}`;
      const counted =
        isUsers && environment.counting.some(({ app, coordinates }) => app === build.app && coordinates.has(key));
      const pins = environment.pins.filter((pin) => !counted && `${pin.interface}@${pin.version}` === version);
      const uses = usesOf(question, version, counted ? coordinate : null);
      const users = [...new Set([...pins.map(({ id }) => id), ...uses.map(({ client }) => client)])];
      const place = `${idOf(other.build)} ${version} ${coordinate}`.trim();
      const used = `${label} ${problem} It is used by ${users.join(', ')}.`;
      const first = `Move these clients first, or deploy a version of ${build.app} that keeps it.`;
      if (users.length > 0) return found('deploy/usedContractBroken', place, used, first);
      const missing = uncountedUse(question, served.interface, counted ? key : null).join(' ');
      if (missing !== '') found('deploy/useNotCounted', place, `${label} ${problem} Its use is unknown: ${missing}`);
    }
  }
}

const movePins = 'Move these pins to another version first.';

function pinnedBy([first, ...others]: Environment['pins']): string {
  return others.length === 0 ? `${first?.id} pins` : `${first?.id} and ${others.length} more pin`;
}

/**
 * Null if a worker knows a contract: a type, or a version of an event.
 *
 * @param use who needs it: `customer-api 0.5.0 appends`
 */
function lackedBy({ build, label }: Party, contract: string, use: string) {
  if (build.renders.some(({ event }) => event === contract || typeOf(event) === contract)) return null;
  const [rule, verb] = contract.includes('@')
    ? (['deploy/versionNotRendered', 'cannot render'] as const)
    : (['deploy/typeUnknown', 'does not know'] as const);
  return { rule, contract, message: `${label} ${verb} ${contract}, which ${use}. These events would wait.` };
}

/** Pins end with the sunset of their version. */
export function acceptedPins({ environment }: Question, { pins }: Build): string[] {
  const today = dayOf(new Date(environment.takenAt));
  return pins.flatMap(({ event, sunsetOn }) => (sunsetOn === null || sunsetOn > today ? [event] : []));
}

/** The pins that a live build of the same app accepts. */
export function livePins(question: Question, { build: { app } }: Party): ReadonlySet<string> {
  const live = question.parties.filter((party) => party.isLive && party.build.app === app);
  return new Set(live.flatMap(({ build }) => acceptedPins(question, build)));
}

/** Also a build that renders nothing, of an app whose other builds do. */
export function isWorker(question: Question, { app }: Build): boolean {
  const rights = rightsOf(question, app);
  return rights?.renders ?? question.known.some((each) => each.app === app && each.renders.length > 0);
}

/** The type of an event version, or a type as it is. */
function typeOf(event: string): string {
  return event.split('@', 1).join('');
}

export function sdlOf({ build }: Party, { file, sdl }: Build['serves'][number]) {
  return { file: `${idOf(build)}:${file}`, text: sdl };
}
